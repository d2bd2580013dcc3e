/** @type {typeof import("../language.js").languageWords} */
export const languageWords = {
  language: "Sprache (Language)",
  asBrowser: "Wie der Browser",
};
