// Generated from shared/words/ja/page/edit.ftl
import { number } from "../../format.js";
export const editWords = {
  button: "編集…",
  title: "ディスプレイを編集",
  name: "名前",
  site: "拠点",
  tags: "タグ（カンマ区切り）",
  notes: "メモ",
  teamNote: "チームへのメモ",
  go: "保存",
  manyButton: "拠点とタグ…",
  manyTitle: "拠点やタグを変更",
  many: ({ n }) => `${number(n)}台が変更されます。`,
  move: "この拠点に移す（空欄は拠点なし）",
  add: "タグを追加",
  remove: "タグを削除",
  left: ({ names }) => `次を除いて変更しました。存在しないか、タグが多すぎます: ${names}`,
  woken: ({ names }) => `次のディスプレイには、抑止時間が適用されなくなりました: ${names}`,
};
