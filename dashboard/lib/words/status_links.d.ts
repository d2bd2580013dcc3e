// Generated from shared/words/*/page/status_links.ftl
export const statusLinkWords: {
  title: string;
  lead: string;
  none: string;
  failed: string;
  name: string;
  site: string;
  make: string;
  made: string;
  copy: string;
  lastUsed: string;
  neverUsed: string;
  ended: string;
  end: string;
  endOf: (facts: { name: string }) => string;
  endTitle: string;
  endWhy: string;
};
