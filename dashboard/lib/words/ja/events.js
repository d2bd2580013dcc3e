// Generated from shared/words/ja/page/events.ftl
export const eventWords = {
  kind: {
    registered: "登録",
    state: "状態",
    service_failed: "サービス障害",
    service_cleared: "確認",
    screen: "画面",
    log: "ログ",
    command: "コマンド",
    recovery: "自動復旧",
    audit: "変更",
  },
  none: "このディスプレイの履歴はまだありません。",
  failed: "履歴を読み込めませんでした。",
};
