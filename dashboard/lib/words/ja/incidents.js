import { number } from "../../format.js";

/** @type {typeof import("../incidents.js").incidentWords} */
export const incidentWords = {
  title: "障害",
  lead: "同時に異常になったディスプレイと、その共通点です。",
  which: "表示する障害",
  open: "継続中",
  closed: "終了",
  number: (id) => `障害 ${id}`,
  kind: { site: "1 拠点", subnet: "1 ネットワーク", cluster: "複数の拠点", listening: "こちら側" },
  ours: "フリートの声が届いていません",
  are: (unwell, members) => `${number(members)} 台中 ${number(unwell)} 台がまだ異常`,
  back: (members) => (members === 1 ? "復旧済み" : `${number(members)} 台すべて復旧`),
  were: (members) => `${number(members)} 台`,
  lasts: (time) => `${time} 継続中`,
  lasted: (time) => `${time} 継続`,
  merged: (id) => `障害 ${id} の一部と分かりました。`,
  inMaintenance: (n) => `${number(n)} 台は抑止時間中で、自動復旧は何も送りません。`,
  displays: "ディスプレイ",
  well: "正常に戻った時刻",
  timeline: "経過",
  noneOpen: "同時に異常になっているディスプレイはありません。",
  noneClosed: "終了した障害はまだありません。",
  maintenance: "メンテナンスの予定はこちら:",
  failed: "障害を読み込めませんでした。",
  failedOne: "この障害を読み込めませんでした。",
};
