// Generated from shared/words/ja/page/language.ftl
export const languageWords = {
  language: "言語（Language）",
  asBrowser: "ブラウザーに合わせる",
};
