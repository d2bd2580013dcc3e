// Generated from shared/words/de/page/lists.ftl
export const listWords = {
  between: ", ",
  to: "–",
};
