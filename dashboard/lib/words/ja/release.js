// Generated from shared/words/ja/page/release.ftl
import { number } from "../../format.js";
export const releaseWords = {
  title: "自動復旧を再開しますか？",
  ask: ({ n, most_n }) => `${number(n)}台の復旧を控えています。今すぐ最大${number(most_n)}台を再起動する可能性があります。`,
  later: "今後さらに多くのディスプレイが同時に停止した場合は、再び復旧を控えます。",
  go: "再開する",
  done: "自動復旧が再開されました。",
  hold: "再び保留…",
};
