// Generated from shared/words/de/page/units.ftl
export const unitWords = {
  second: "Sek.",
  minute: "Min.",
  hour: "Std.",
  day: "Tg.",
  space: " ",
  ago: ({ age }) => `vor ${age}`,
};
