/** @type {typeof import("../acknowledged.js").acknowledgedWords} */
export const acknowledgedWords = {
  none: "過去24時間に確認された障害はありません。",
  failed: "確認済みの障害を読み込めませんでした。",
};
