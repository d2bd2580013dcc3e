import { number, small } from "../../format.js";

/** @type {typeof import("../day.js").dayWords} */
export const dayWords = {
  week: "Die letzten 7 Tage",
  hours: (day, parts) => `${day}, jede Stunde nach ihrem schlechtesten Zustand: ${parts.join(", ")}`,
  closed: "geschlossen oder noch nicht da",
  said: (parts) => `Die letzten 24 Stunden, jede halbe Stunde nach ihrem schlechtesten Zustand: ${parts.join(", ")}`,
  part: (n, word) => `${number(n)}-mal ${small(word)}`,
};
