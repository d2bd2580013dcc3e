// Generated from shared/words/*/page/recovery.ftl
export const recoveryWords: {
  state: {
    off: string;
    due: string;
    in_flight: string;
    verifying: string;
    locked: string;
    suspended: string;
    unreachable: string;
    blocked_bridge: string;
    blocked_breaker: string;
    held: string;
    not_recovered: string;
  } & Record<string, string>;
  mute: string;
  well: string;
  never: string;
  tried: (facts: { restarts_n: number; reboots_n: number }) => string;
  resume: string;
};
