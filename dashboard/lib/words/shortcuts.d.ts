// Generated from shared/words/*/page/shortcuts.ftl
export const shortcutWords: {
  title: string;
  on: string;
  keys: {
    search: string;
    step: string;
    open: string;
    select: string;
    close: string;
    fleet: string;
    logs: string;
    presentations: string;
    incidents: string;
    quiet: string;
    availability: string;
    settings: string;
    help: string;
  } & Record<string, string>;
  note: string;
};
