import { number } from "../../format.js";

/** @type {typeof import("../day.js").dayWords} */
export const dayWords = {
  week: "過去 7 日間",
  hours: (day, parts) => `${day}、1 時間ごとの最も悪い状態: ${parts.join("、")}`,
  closed: "営業時間外または未登録",
  said: (parts) => `過去 24 時間、30 分ごとの最も悪い状態: ${parts.join("、")}`,
  part: (n, word) => `${word} ${number(n)} 回`,
};
