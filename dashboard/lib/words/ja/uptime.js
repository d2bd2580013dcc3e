// Generated from shared/words/ja/page/uptime.ftl
import { number } from "../../format.js";
export const uptimeWords = {
  title: "稼働時間",
  range: "期間",
  now: "現在",
  days: ({ n }) => n === 1 ? "24時間" : `${n}日間`,
  up: ({ share, days_n }) => `過去${days_n === 1 ? "24時間" : `${days_n}日間`}の${share}で稼働。`,
  partly: ({ known, share, days_n }) => `過去${days_n === 1 ? "24時間" : `${days_n}日間`}のうち分かっている${known}では${share}稼働。残りは不明です。`,
  unknown: ({ time }) => `${time}は不明です。`,
  upWhileOpen: ({ share, days_n }) => `過去${days_n === 1 ? "24時間" : `${days_n}日間`}の営業時間の${share}で稼働。`,
  closed: ({ time }) => `${time}は営業時間外で、含みません。`,
  closedFor: ({ time }) => `営業時間外、${time}`,
  nothingKnown: "この期間は不明です。",
  calm: "この期間、クラッシュも応答なしもありません。",
  calmAsKnown: "分かっている期間、クラッシュも応答なしもありません。",
  lasted: ({ time }) => `${time}継続`,
  more: ({ n }) => `それ以前にほか${number(n)}回`,
  failed: "稼働時間を読み込めませんでした。",
};
