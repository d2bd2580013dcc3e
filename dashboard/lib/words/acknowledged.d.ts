// Generated from shared/words/*/page/acknowledged.ftl
export const acknowledgedWords: {
  none: string;
  failed: string;
} & Record<string, string>;
