// Generated from shared/words/de/page/acknowledged.ftl
export const acknowledgedWords = {
  none: "In den letzten 24 Stunden wurde nichts quittiert.",
  failed: "Die quittierten Ausfälle konnten nicht geladen werden.",
};
