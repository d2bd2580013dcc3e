// Generated from shared/words/ja/page/units.ftl
export const unitWords = {
  second: "秒",
  minute: "分",
  hour: "時間",
  day: "日",
  space: "",
  ago: ({ age }) => `${age}前`,
};
