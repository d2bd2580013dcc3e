// Generated from shared/words/ja/page/failures.ftl
import { number } from "../../format.js";
export const failureWords = {
  region: "サービス障害",
  title: ({ n }) => `${number(n)}台でサービス障害`,
  unit: "サービス",
  acknowledge: "確認",
  acknowledgeOf: ({ name }) => `${name} の障害を確認`,
  sending: "確認中…",
  done: "確認済み",
  by: ({ who }) => `${who} が確認`,
  elsewhere: "ほかの人が確認",
  again: ({ time }) => `${time}に再び障害。確認の前に見てください`,
  error: "確認が届きませんでした。",
  refused: ({ detail }) => `確認できません: ${detail}`,
  mended: ({ n }) => `${number(n)}件のサービスが停止しましたが、復旧しています。`,
  wellSince: "正常に復帰",
  mendedBy: ({ who }) => `${who === "recovery" ? "自動復旧が" : `${who} が`}再起動、正常に復帰`,
  acknowledgeThese: ({ n }) => `${number(n)}件をまとめて確認`,
  showAll: ({ n }) => `${number(n)}件すべて表示`,
  showLess: "少なく表示",
  paused: ({ time }) => `${time}時点、更新停止中`,
  viewer: "確認できるのはオペレーターだけです",
};
