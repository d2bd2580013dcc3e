// Generated from shared/words/*/page/events.ftl
export const eventWords: {
  kind: {
    registered: string;
    state: string;
    service_failed: string;
    service_cleared: string;
    screen: string;
    log: string;
    command: string;
    recovery: string;
    audit: string;
  } & Record<string, string>;
  none: string;
  failed: string;
};
