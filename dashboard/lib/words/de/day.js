// Generated from shared/words/de/page/day.ftl
import { number, small } from "../../format.js";
export const dayWords = {
  week: "Die letzten 7 Tage",
  hours: ({ day, parts }) => `${day}, jede Stunde nach ihrem schlechtesten Zustand: ${parts}`,
  halfHours: ({ parts }) => `Die letzten 24 Stunden, jede halbe Stunde nach ihrem schlechtesten Zustand: ${parts}`,
  closed: "geschlossen oder noch nicht da",
  part: ({ n, word }) => `${number(n)}-mal ${small(word)}`,
};
