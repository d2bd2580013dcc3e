// Generated from shared/words/de/page/language.ftl
export const languageWords = {
  language: "Sprache (Language)",
  asBrowser: "Wie der Browser",
};
