/** @type {typeof import("../units.js").unitWords} */
export const unitWords = {
  second: "Sek.",
  minute: "Min.",
  hour: "Std.",
  day: "Tg.",
  space: "\u00a0",
  ago: (age) => `vor ${age}`,
};
