// Generated from shared/words/ja/page/acknowledged.ftl
export const acknowledgedWords = {
  none: "過去24時間に確認された障害はありません。",
  failed: "確認済みの障害を読み込めませんでした。",
};
