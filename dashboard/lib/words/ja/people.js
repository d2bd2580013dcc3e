/** @type {typeof import("../people.js").byPassword} */
export const byPassword = {
  title: "ユーザー",
  lead: "全員が自分の名前とパスワードでサインインします。新しいユーザーには、自分のパスワードを設定するまで使えるパスワードが渡されます。",
  failed: "ユーザーを読み込めませんでした。",
  add: "ユーザーを追加…",
  addTitle: "ユーザーを追加",
  addGo: "追加",
  name: "ユーザー名",
  nameHow: "英数字と . _ @ + -",
  role: "権限",
  sites: "これらの拠点だけ",
  sitesHow: "1行に1拠点、ディスプレイの表記どおりに。空欄はすべての拠点。",
  you: "自分",
  signedIn: "最終サインイン",
  never: "サインインしたことがありません",
  since: "追加",
  hasUntil: "パスワード設定の期限",
  over: "渡されたパスワードは期限切れです。リセットしてください。",
  provided: (name) => `${name} が権限を与えたユーザーは、その権限で自動的に入れます。`,
  fromProvider: (name) => `権限と拠点は ${name} から、サインインごとに更新`,
  someProvider: "サインインサービス",
  comesBack: "サインインサービスが権限を与えている間は、次のサインインで戻ってきます。締め出すには無効にしてください。",
  disabled: "無効",
  disabledSince: "無効化",
  moreOf: (name) => `${name} の操作`,
  ask: {
    role: {
      item: "権限や拠点を変更…",
      title: (name) => `${name} の権限を変更`,
      text: "セッションは終了し、新しい権限でサインインし直します。",
      go: "変更",
    },
    reset: {
      item: "パスワードをリセット…",
      title: (name) => `${name} のパスワードをリセットしますか？`,
      text: "現在のパスワードとすべてのセッションが直ちに無効になります。渡すための新しいパスワードが表示されます。",
      go: "パスワードをリセット",
    },
    factor: {
      item: "二要素認証をリセット…",
      title: (name) => `${name} の二要素認証をリセットしますか？`,
      text: "電話と回復コードの両方を失った人のためのものです。セッションは終了し、新しく設定するまでパスワードだけでサインインできます。",
      go: "二要素認証をリセット",
    },
    disable: {
      item: "無効にする…",
      title: (name) => `${name} を無効にしますか？`,
      text: "すべてのセッションが直ちに終了し、有効に戻すまでサインインできません。発行したトークンは使え続けます。下で失効させてください。",
      go: "無効にする",
    },
    enable: {
      item: "有効にする…",
      title: (name) => `${name} を有効に戻しますか？`,
      text: "以前のパスワードでサインインできます。",
      go: "有効にする",
    },
    remove: {
      item: "削除…",
      title: (name) => `${name} を削除しますか？`,
      text: "アカウントは完全に失われます。行ったことは監査ログに残ります。発行したトークンは使え続けます。下で失効させてください。",
      go: "削除",
    },
  },
  handOver: {
    title: (name) => `${name} のパスワード`,
    once: "今コピーしてください。再表示はできません。",
    how: (name) =>
      `直接、または信頼できる方法で ${name} に渡してください。サインインのときに本人が自分のものを設定します。`,
    until: "有効期限",
    copy: "パスワードをコピー",
    done: "完了",
  },
};

/** @type {typeof import("../people.js").byProxy} */
export const byProxy = {
  ...byPassword,
  lead: "全員が手前のプロキシを通り、メールアドレスで識別されます。追加した人は入れます。パスワードはありません。",
  name: "メールアドレス",
  nameHow: "プロキシの表記どおりに。大文字と小文字は区別しません。",
  ask: {
    ...byPassword.ask,
    role: { ...byPassword.ask.role, text: "次の操作から有効になります。" },
    disable: {
      ...byPassword.ask.disable,
      text: "有効に戻すまで入れません。発行したトークンは使え続けます。下で失効させてください。",
    },
    enable: { ...byPassword.ask.enable, text: "以前の権限で再び入れるようになります。" },
  },
};
