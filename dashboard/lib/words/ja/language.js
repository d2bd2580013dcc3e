/** @type {typeof import("../language.js").languageWords} */
export const languageWords = {
  language: "言語（Language）",
  asBrowser: "ブラウザーに合わせる",
};
