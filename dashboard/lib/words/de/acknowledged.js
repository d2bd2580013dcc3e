/** @type {typeof import("../acknowledged.js").acknowledgedWords} */
export const acknowledgedWords = {
  none: "In den letzten 24 Stunden wurde nichts quittiert.",
  failed: "Die quittierten Ausfälle konnten nicht geladen werden.",
};
