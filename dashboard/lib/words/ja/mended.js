// Generated from shared/words/ja/page/mended.ftl
import { number } from "../../format.js";
export const mendedWords = {
  title: "復旧済みの障害を確認",
  lead: "これらのディスプレイは再び稼働しており、状態報告に障害はありません。",
  left: ({ n }) => `${number(n)}件が残りました。再び障害になったか、ほかの人が先に確認しました。`,
};
