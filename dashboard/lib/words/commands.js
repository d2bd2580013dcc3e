/** Commands, to one display or to many; the names of actions and steps are in states.js. */
import { translate } from "../language.js";

export const commandWords = {
  title: "Commands",
  sending: "Sending…",
  unknown:
    "No answer from the service. It may have taken the command: asking again with the same key, so it cannot run twice.",
  unreachable:
    "The service did not answer. Whether it took the command shows here, or in the tab Commands, once it answers again.",
  expiresIn: (/** @type {string} */ left) => `Expires in ${left} unless the display answers`,
  resultIn: (/** @type {string} */ left) => `Result due in ${left}`,
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
  locked: (/** @type {string} */ time, /** @type {string} */ left) =>
    `Restart and reboot are locked until ${time} (${left} left): the display gets time to come back.`,
  viewer: "Only operators can send commands.",
  adminOnly: "Only admins can shut a display down.",
  notCapable: "This display says that it cannot do this.",
  open: "A command is on its way; wait for it to end.",
  by: (/** @type {string} */ who) => `requested by ${who}`,
  confirmedBy: /** @type {Record<string, string>} */ ({
    ack: "The display confirmed it.",
    evidence: "Proven by what the display did after it.",
    both: "The display confirmed it, and what it did after it proved it.",
  }),
  late: (/** @type {string} */ word, /** @type {string} */ time) => `The display answered late: ${word} at ${time}.`,
  confirm: /** @type {Record<string, {title: string, text: string, go: string}>} */ ({
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
  }),
  confirmThrough: {
    title: "Restart the player in a quiet time?",
    text: "Somebody may be at work there.",
    go: "Restart now",
  },
  none: "No command has been sent to this display.",
  failed: "The commands could not be loaded.",
  cause: /** @type {Record<string, string>} */ ({
    no_ack: "The display did not acknowledge it in time.",
    no_subscriber: "The display was not connected to the broker.",
    never_published: "The broker could not be reached in time, so it was never sent.",
    no_result: "The display took it, but nothing showed in time that it worked.",
    publish_denied: "The broker did not allow it. Tell the person who runs the service.",
    screen_did_not_switch: "The screen is as before.",
    screen_does_not_say: "The screen does not say whether it was switched.",
    reboot_did_not_happen: "The display kept running without a reboot.",
    precondition_failed: "The display has rebooted or restarted since the command was made, so it did nothing.",
    no_journal: "The display's disk takes no writes, so it began nothing. Replace its card.",
    unknown_action: "The display does not know this command: its client is too old.",
    not_capable: "The display cannot do this.",
    unsupported_version: "The display does not understand the command: its client is too old.",
    busy: "The display was busy with another command.",
    expired: "The display came to it too late, so it did nothing.",
    interrupted: "The display went down before it was done.",
    client_deleted: "The display was deleted in the meantime.",
    login_revoked: "The display's login was revoked in the meantime.",
    rights_lost: "Whoever asked for it may not send it there any more.",
    no_picture: "The display said that it sent a picture, but none arrived.",
    already_rebooted: "The display had already restarted by itself.",
  }),
};

translate("commands", { commandWords });
