// Generated from shared/words/ja/page/taken.ftl
export const takenWords = {
  take: "対応します",
  takeOf: ({ name }) => `${name}: 対応します`,
  mine: ({ since }) => `${since}からあなたが対応中です。`,
  theirs: ({ who, since }) => `${since}から ${who} が対応中です。`,
  takeOver: "引き継ぐ",
  giveBack: "担当を外れる",
  writeNote: "メモ…",
};
