// Generated from shared/words/ja/page/lists.ftl
export const listWords = {
  between: "、",
  to: "～",
};
