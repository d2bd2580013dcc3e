import { number } from "../../format.js";

/** @type {typeof import("../wall.js").wallWords} */
export const wallWords = {
  bridge: "ブリッジが応答しません。ディスプレイの状態は不明です。",
  mended: (n) => `サービス障害 ${number(n)}件は復旧済みですが、未確認です。`,
  leave: "フリートに戻る",
};
