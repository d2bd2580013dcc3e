// Generated from shared/words/*/page/commands.ftl
export const commandWords: {
  title: string;
  sending: string;
  unknown: string;
  unreachable: string;
  expiresIn: (facts: { left: string }) => string;
  resultIn: (facts: { left: string }) => string;
  waitsForSweep: string;
  again: string;
  withdraw: string;
  end: {
    button: string;
    title: string;
    text: string;
    reason: string;
    go: string;
  } & Record<string, string>;
  locked: (facts: { time: string; left: string }) => string;
  viewer: string;
  adminOnly: string;
  notCapable: string;
  open: string;
  by: (facts: { who: string }) => string;
  confirmedBy: {
    ack: string;
    evidence: string;
    both: string;
  } & Record<string, string>;
  late: (facts: { word: string; time: string }) => string;
  confirm: {
    reboot_host: {
      title: string;
      text: string;
      go: string;
    } & Record<string, string>;
    shutdown_host: {
      title: string;
      text: string;
      go: string;
    } & Record<string, string>;
    screen_off: {
      title: string;
      text: string;
      go: string;
    } & Record<string, string>;
  } & Record<string, {
      title: string;
      text: string;
      go: string;
    } & Record<string, string>>;
  confirmThrough: {
    title: string;
    text: string;
    go: string;
  } & Record<string, string>;
  none: string;
  failed: string;
};
