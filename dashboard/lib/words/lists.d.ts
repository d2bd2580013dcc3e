// Generated from shared/words/*/page/lists.ftl
export const listWords: {
  between: string;
  to: string;
} & Record<string, string>;
