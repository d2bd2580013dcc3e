// Generated from shared/words/ja/page/status_links.ftl
export const statusLinkWords = {
  title: "ステータスページ",
  lead: "リンクを知っている人は、アカウントなしで1つの拠点を見られます。表示されるのは、ディスプレイの名前、過去7日間の状態、複数のディスプレイの障害です。リンクは終了するまで有効です。",
  none: "リンクはまだありません。",
  failed: "リンクを読み込めませんでした。",
  name: "リンクを渡す相手",
  site: "拠点",
  make: "リンクを作成",
  made: "リンクを今コピーしてください。再表示されません。",
  copy: "リンクをコピー",
  lastUsed: "最終使用",
  neverUsed: "未使用",
  ended: "終了済み",
  end: "終了",
  endOf: ({ name }) => `リンク ${name} を終了`,
  endTitle: "このリンクを終了しますか？",
  endWhy: "以後、このリンクを開いても無効と表示されます。元に戻せません。",
};
