import { number } from "../../format.js";

/** @type {typeof import("../health.js").healthWords} */
export const healthWords = {
  none: "このディスプレイはまだ状態を報告していません。",
  at: "報告",
  cpu: "プロセッサー",
  limit: (value) => `通常の上限 ${value} を超過`,
  machine: "機器",
  os: "システム",
  boot: "起動 ID",
  player: "プレーヤー起動 ID",
  interval: "ハートビート間隔",
  seconds: (n) => `${number(n)}秒`,
  logLevel: "ログレベル",
  capabilities: "対応コマンド",
  all: "すべて",
};

/** @param {number} days */
const span = (days) => (days === 1 ? "24時間" : `${days}日間`);

/** @type {typeof import("../health.js").healthHistoryWords} */
export const healthHistoryWords = {
  title: "推移",
  range: "期間",
  days: span,
  ago: (n) => (n === 1 ? "24時間前" : `${n}日前`),
  now: "現在",
  words: (least, most, last) => (least === most ? `常に${last}` : `最低${least}、最高${most}、最新${last}`),
  spoken: (name, days, words) => `${name}、過去${span(days)}: ${words}。`,
  notTold: "この期間の報告なし",
  silent: (time) => `この期間のうち${time}は報告がなく、線が途切れています。`,
  partly: (known, days) => `過去${span(days)}のうち${known}だけ分かっています。残りは不明で、線が途切れています。`,
  nothing: "この期間の報告はありません。動いているディスプレイは5分ごとに記録されます。",
  means: (time) => `各点は${time}の平均です。最低と最高は個々の測定値です。`,
  failed: "推移を読み込めませんでした。",
};
