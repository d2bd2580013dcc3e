// Generated from shared/words/ja/page/wall.ftl
import { number } from "../../format.js";
export const wallWords = {
  bridge: "ブリッジが応答しません。ディスプレイの状態は不明です。",
  leave: "フリートに戻る",
  mended: ({ n }) => `サービス障害${number(n)}件は復旧済みですが、未確認です。`,
};
