/** @type {typeof import("../units.js").unitWords} */
export const unitWords = {
  second: "秒",
  minute: "分",
  hour: "時間",
  day: "日",
  space: "",
  ago: (age) => `${age}前`,
};
