// Generated from shared/words/ja/page/shops.ftl
import { number } from "../../format.js";
export const finderWords = {
  region: "ディスプレイを検索",
  search: "名前、拠点、タグ、状態、サービス…",
  searchLabel: "ディスプレイを検索",
  found: ({ more, every, n, all_n }) => `${number(all_n)}台${every ? "" : `中${number(n)}台`}${more ? "以上" : ""}`,
  without: ({ part }) => `絞り込み ${part} を解除`,
  tag: ({ tag }) => `タグ ${tag}`,
  incident: ({ id }) => `インシデント${id}`,
  unsteady: "不安定な接続",
  clear: "絞り込みを解除",
};
export const shopWords = {
  title: "拠点",
  none: "拠点なし",
  well: ({ n }) => n === 1 ? "正常" : `${number(n)}台すべて正常`,
  are: ({ n, all_n, how }) => `${number(all_n)}台中${number(n)}台が${how === "stale" ? "応答なし" : how === "crashed" ? "クラッシュ" : how === "bad" ? "異常" : `${how}`}`,
  more: ({ n }) => `+${number(n)}`,
  all: ({ n }) => `${number(n)}拠点をすべて表示`,
  tags: "タグ",
  allTags: ({ n }) => `${number(n)}個のタグをすべて表示`,
};
