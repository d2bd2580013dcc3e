// Generated from shared/words/ja/page/weekdays.ftl
export const weekdayWords = {
  monday: "月",
  tuesday: "火",
  wednesday: "水",
  thursday: "木",
  friday: "金",
  saturday: "土",
  sunday: "日",
};
export const dayNames = {
  monday: "月曜日",
  tuesday: "火曜日",
  wednesday: "水曜日",
  thursday: "木曜日",
  friday: "金曜日",
  saturday: "土曜日",
  sunday: "日曜日",
};
export const hoursWords = {
  nights: ({ n }) => `${n}晩`,
  and: "・",
};
