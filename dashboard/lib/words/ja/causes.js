// Generated from shared/words/ja/page/causes.ftl
import { number } from "../../format.js";
export const causeWords = {
  title: "問題",
  network: ({ subnet }) => `ネットワーク ${subnet}`,
  several: "複数の拠点",
  some: "複数のディスプレイ",
  since: "発生",
  again: ({ n }) => `24時間で${number(n)}回目`,
  holds: "自動復旧を見合わせています。これほど同時なら、原因はこちら側かもしれません。",
  acts: ({ n }) => `${number(n)}台を自動復旧中です。`,
  off: "自動復旧はオフです。",
  show: ({ n }) => n === 1 ? "表示" : `${number(n)}台を表示`,
  snooze: "拠点の通知停止…",
  release: "再開…",
  story: "経過",
  unsteady: ({ n }) => `不安定な接続: ${number(n)}台`,
  worst: ({ name, losses_n }) => `${name} は過去1時間に${number(losses_n)}回ブローカーから切断されました。現地のネットワークが原因と思われます。`,
  worstOf: ({ name, losses_n }) => `いずれも過去1時間に3回以上ブローカーから切断されました。${name} は${number(losses_n)}回です。現地のネットワークが原因と思われます。`,
  shared: ({ n }) => `同じログインを使う2台の機器: ${number(n)}台`,
  sharedWhy: "どちらの機器にもコマンドが届きうるため、自動復旧はこのディスプレイに触れません。一方に新しいコードを発行すると解消します。",
  andMore: ({ n }) => `ほか${number(n)}台`,
  mended: ({ n, since }) => `自動復旧は${since}以降、${number(n)}件の障害を直しました。`,
};
