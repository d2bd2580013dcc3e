// Generated from shared/words/en/page/commands.ftl
import { translate } from "../language.js";
export const commandWords = {
  title: "Commands",
  sending: "Sending…",
  unknown: "No answer from the service. It may have taken the command: asking again with the same key, so it cannot run twice.",
  unreachable: "The service did not answer. Whether it took the command shows here, or in the tab Commands, once it answers again.",
  expiresIn: ({ left }) => `Expires in ${left} unless the display answers`,
  resultIn: ({ left }) => `Result due in ${left}`,
  waitsForSweep: "Its time is up; the next tick closes it within a minute or so.",
  again: "Send again",
  withdraw: "Withdraw",
  end: {
    button: "End it anyway",
    title: "End this command?",
    text: "The display may have it already and may still carry it out. The service stops waiting and does not send it again; restart and reboot stay locked until their time is over.",
    reason: "Reason",
    go: "End it",
  },
  locked: ({ time, left }) => `Restart and reboot are locked until ${time} (${left} left): the display gets time to come back.`,
  viewer: "Only operators can send commands.",
  adminOnly: "Only admins can shut a display down.",
  notCapable: "This display says that it cannot do this.",
  open: "A command is on its way; wait for it to end.",
  by: ({ who }) => `requested by ${who}`,
  confirmedBy: {
    ack: "The display confirmed it.",
    evidence: "Proven by what the display did after it.",
    both: "The display confirmed it, and what it did after it proved it.",
  },
  late: ({ word, time }) => `The display answered late: ${word} at ${time}.`,
  confirm: {
    reboot_host: {
      title: "Reboot this display?",
      text: "The screen goes dark until the machine is back. Restart and reboot are then locked for a while.",
      go: "Reboot now",
    },
    shutdown_host: {
      title: "Shut this display down?",
      text: "Nobody can start it again from here: somebody has to switch it on at the display.",
      go: "Shut down now",
    },
    screen_off: {
      title: "Switch this screen off?",
      text: "It stays off until its opening hours next begin or end, or, without hours, until somebody switches it on. The player goes on.",
      go: "Switch off",
    },
  },
  confirmThrough: {
    title: "Restart the player in a quiet time?",
    text: "Somebody may be at work there.",
    go: "Restart now",
  },
  none: "No command has been sent to this display.",
  failed: "The commands could not be loaded.",
};
translate("commands", { commandWords });
