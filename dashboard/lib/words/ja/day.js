import { number } from "../../format.js";

/** @type {typeof import("../day.js").dayWords} */
export const dayWords = {
  week: "過去7日間",
  hours: (day, parts) => `${day}、1時間ごとの最も悪い状態: ${parts.join("、")}`,
  closed: "営業時間外または未登録",
  said: (parts) => `過去24時間、30分ごとの最も悪い状態: ${parts.join("、")}`,
  part: (n, word) => `${word} ${number(n)}回`,
};
