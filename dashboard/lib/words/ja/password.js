// Generated from shared/words/ja/page/password.ftl
export const passwordWords = {
  title: "自分のパスワードを設定",
  why: "最初のパスワードは自動生成されたものです。続ける前に自分のものを設定してください。",
  current: "現在のパスワード",
  fresh: "新しいパスワード",
  go: "パスワードを設定",
  going: "設定中…",
  wrong: "現在のパスワードが違います。",
};
