import { number } from "../../format.js";

/** @type {Record<string, string>} */
const DID = { stale: "応答なし", crashed: "クラッシュ", bad: "異常" };

/** @type {typeof import("../shops.js").finderWords} */
export const finderWords = {
  region: "ディスプレイを検索",
  search: "名前、拠点、タグ、状態、サービス…",
  searchLabel: "ディスプレイを検索",
  found: (n, all, more) => (n === all ? `${number(all)}台` : `${number(all)}台中${number(n)}台`) + (more ? "以上" : ""),
  without: (part) => `絞り込み ${part} を解除`,
  tag: (tag) => `タグ ${tag}`,
  incident: (id) => `インシデント${id}`,
  unsteady: "不安定な接続",
  clear: "絞り込みを解除",
};

/** @type {typeof import("../shops.js").shopWords} */
export const shopWords = {
  title: "拠点",
  none: "拠点なし",
  well: (n) => (n === 1 ? "正常" : `${number(n)}台すべて正常`),
  are: (how, n, all) => `${number(all)}台中${number(n)}台が${DID[how] ?? how}`,
  more: (n) => `+${number(n)}`,
  all: (n) => `${number(n)}拠点をすべて表示`,
  tags: "タグ",
  allTags: (n) => `${number(n)}個のタグをすべて表示`,
};
