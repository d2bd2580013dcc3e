// Generated from shared/words/ja/page/day.ftl
import { number } from "../../format.js";
export const dayWords = {
  week: "過去7日間",
  hours: ({ day, parts }) => `${day}、1時間ごとの最も悪い状態: ${parts}`,
  halfHours: ({ parts }) => `過去24時間、30分ごとの最も悪い状態: ${parts}`,
  closed: "営業時間外または未登録",
  part: ({ n, word }) => `${word} ${number(n)}回`,
};
