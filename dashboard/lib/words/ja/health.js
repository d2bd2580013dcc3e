// Generated from shared/words/ja/page/health.ftl
import { number } from "../../format.js";
export const healthWords = {
  none: "このディスプレイはまだ状態を報告していません。",
  at: "報告",
  cpu: "プロセッサー",
  limit: ({ value }) => `通常の上限 ${value} を超過`,
  machine: "機器",
  os: "システム",
  boot: "起動 ID",
  player: "プレーヤー起動 ID",
  interval: "ハートビート間隔",
  seconds: ({ n }) => `${number(n)}秒`,
  logLevel: "ログレベル",
  capabilities: "対応コマンド",
  all: "すべて",
};
export const healthHistoryWords = {
  title: "推移",
  range: "期間",
  days: ({ n }) => n === 1 ? "24時間" : `${n}日間`,
  ago: ({ n }) => n === 1 ? "24時間前" : `${n}日前`,
  now: "現在",
  always: ({ last }) => `常に${last}`,
  words: ({ least, most, last }) => `最低${least}、最高${most}、最新${last}`,
  spoken: ({ name, days_n, words }) => `${name}、過去${days_n === 1 ? "24時間" : `${days_n}日間`}: ${words}。`,
  notTold: "この期間の報告なし",
  silent: ({ time }) => `この期間のうち${time}は報告がなく、線が途切れています。`,
  partly: ({ known, days_n }) => `過去${days_n === 1 ? "24時間" : `${days_n}日間`}のうち${known}だけ分かっています。残りは不明で、線が途切れています。`,
  nothing: "この期間の報告はありません。動いているディスプレイは5分ごとに記録されます。",
  means: ({ time }) => `各点は${time}の平均です。最低と最高は個々の測定値です。`,
  failed: "推移を読み込めませんでした。",
};
