import { number } from "../../format.js";

/** What a screen shows. @type {Record<string, string>} */
const HOW = { black: "黒い画面", frozen: "画面のフリーズ", off: "予定外の消灯", disconnected: "画面の未接続" };

/** @type {typeof import("../attention.js").attentionWords} */
export const attentionWords = {
  title: "対応が必要",
  count: (n, told) => `${number(n)}台` + (told ? `（上の${number(told)}台を除く）` : ""),
  wrong: "問題",
  did: "これまでの自動復旧",
  why: "いま動かない理由",
  showAll: (n) => `残り${number(n)}台を表示`,
  inTable: (n) => `残り${number(n)}台は、タイルと下の表で確認できます`,
  crashed: "プレーヤーがクラッシュ",
  stale: "応答なし、最後のハートビート",
  staleNever: "応答なし",
  mute: "メッセージは届くがハートビートなし、最後は",
  failed: (unit) => `サービス ${unit} に障害`,
  screen: (how) => `${HOW[how] ?? how}、発生`,
  limit: (passed) => `しきい値超過: ${passed}、発生`,
  step: (action, step) => `${action}: ${step}`,
  nothingYet: "まだありません",
  sentLately: "最近、再起動を送信しました",
  steps: (n) => `これまで${number(n)}回試行`,
  until: (time, left) => `${time}まで（残り${left}）。`,
  incident: (id) => `インシデント${id}の一部`,
  notUnwell: "自動復旧の対象外です",
  heldBack: "ほかと同様に待機中です。上を参照。",
};
