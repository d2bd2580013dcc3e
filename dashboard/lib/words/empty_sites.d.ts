// Generated from shared/words/*/page/empty_sites.ftl
export const emptySitesWords: {
  none: (facts: { sites: string }) => string;
} & Record<string, (facts: { sites: string }) => string>;
