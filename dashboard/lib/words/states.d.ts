// Generated from shared/words/*/page/states.ftl
export const statusWords: {
  running: string;
  late: string;
  stale: string;
  crashed: string;
  starting: string;
  stopped: string;
  unknown: string;
  screen_failed: string;
  limit_passed: string;
} & Record<string, string>;
export const statusMeanings: {
  running: string;
  late: string;
  stale: string;
  crashed: string;
  starting: string;
  stopped: string;
  unknown: string;
  screen_failed: string;
  limit_passed: string;
} & Record<string, string>;
export const screenWords: {
  ok: string;
  black: string;
  frozen: string;
  off: string;
  disconnected: string;
  unknown: string;
} & Record<string, string>;
export const offByWords: {
  command: string;
  hours: string;
} & Record<string, string>;
export const actionWords: {
  restart_app: string;
  reboot_host: string;
  shutdown_host: string;
  screenshot: string;
  screen_on: string;
  screen_off: string;
} & Record<string, string>;
export const stepWords: {
  queued: string;
  sent: string;
  received: string;
  running: string;
  succeeded: string;
  failed: string;
  rejected: string;
  expired: string;
  timed_out: string;
  cancelled: string;
} & Record<string, string>;
