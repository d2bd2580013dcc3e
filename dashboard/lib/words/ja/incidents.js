import { number } from "../../format.js";

/** @type {typeof import("../incidents.js").incidentWords} */
export const incidentWords = {
  title: "インシデント",
  lead: "同時に異常になったディスプレイと、その共通点です。",
  which: "表示するインシデント",
  open: "継続中",
  closed: "終了",
  number: (id) => `インシデント${id}`,
  kind: { site: "1拠点", subnet: "1ネットワーク", cluster: "複数の拠点", listening: "こちら側" },
  ours: "フリートからの通信が届いていません",
  are: (unwell, members) => `${number(members)}台中${number(unwell)}台がまだ異常`,
  back: (members) => (members === 1 ? "復旧済み" : `${number(members)}台すべて復旧`),
  were: (members) => `${number(members)}台`,
  lasts: (time) => `${time}継続中`,
  lasted: (time) => `${time}継続`,
  merged: (id) => `インシデント${id}の一部と分かりました。`,
  inMaintenance: (n) => `${number(n)}台は抑止時間中で、自動復旧は何も送りません。`,
  displays: "ディスプレイ",
  well: "正常に復帰",
  timeline: "経過",
  noneOpen: "同時に異常になっているディスプレイはありません。",
  noneClosed: "終了したインシデントはまだありません。",
  maintenance: "メンテナンスは…で予定できます。",
  failed: "インシデントを読み込めませんでした。",
  failedOne: "このインシデントを読み込めませんでした。",
};
