// Generated from shared/words/ja/page/shortcuts.ftl
export const shortcutWords = {
  title: "キーボードショートカット",
  on: "1キーのショートカットを使う",
  keys: {
    search: "ディスプレイを検索",
    step: "次、前のディスプレイ",
    open: "ディスプレイを開く",
    select: "ディスプレイを選択、解除",
    close: "パネルやダイアログを閉じる",
    fleet: "フリートへ",
    logs: "ログへ",
    presentations: "プレゼンテーションへ",
    incidents: "インシデントへ",
    quiet: "抑止時間へ",
    availability: "稼働率へ",
    settings: "設定へ",
    help: "この一覧",
  },
  note: "キーでコマンドが送られることはありません。",
};
