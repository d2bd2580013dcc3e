// Generated from shared/words/ja/page/banners.ftl
export const bannerWords = {
  offline: ({ time }) => `サーバーが応答しません。表示は${time}時点のものです。自動的に再試行しています。`,
  offlineFromTheStart: "サーバーが応答しません。自動的に再試行しています。",
  signOutFailed: "サインアウトがサーバーに届きませんでした。まだサインイン中です。少し待ってやり直してください。",
  bridge: ({ time }) => `ブリッジが${time}から応答しません。ディスプレイの状態は不明です。`,
  bridgeNever: "ブリッジからまだ応答がありません。ディスプレイの状態は不明です。",
  bridgeWhy: "ディスプレイが送るものは保存されていません。自動復旧は、見えないものには働きません。",
  scheduler: ({ time }) => `スケジューラーが遅れています。最後の実行: ${time}。`,
  schedulerNever: "スケジューラーはまだ実行されていません。",
  schedulerWhy: "実行されるまで、期限切れのコマンドは終わらず、復旧も行われません。",
  empty: ({ sites }) => `あなたの権限の拠点 ${sites} にディスプレイはありません。`,
  emptyWhy: "拠点の名前が変わったときは、管理者にあなたの拠点の変更を頼んでください。",
  breaker: "自動復旧を見合わせています。同時に異常になったディスプレイが多すぎます。",
  release: "再開…",
};
