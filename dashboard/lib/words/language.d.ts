// Generated from shared/words/*/page/language.ftl
export const languageWords: {
  language: string;
  asBrowser: string;
} & Record<string, string>;
