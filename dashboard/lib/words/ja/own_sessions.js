// Generated from shared/words/ja/page/own_sessions.ftl
export const ownSessionWords = {
  title: "サインイン中の場所",
  thisOne: "この端末",
  someBrowser: "ブラウザー",
  browserOn: ({ browser, system }) => `${system} の ${browser}`,
  nowhere: "アドレス不明",
  since: "開始",
  used: "最終使用",
  end: "終了",
  endOf: ({ name, address }) => `${address} の ${name} のセッションを終了`,
};
