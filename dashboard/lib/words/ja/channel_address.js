// Generated from shared/words/ja/page/channel_address.ftl
export const addressWords = {
  anew: "別の宛先…",
  services: {
    mail: "メール",
    teams: "Microsoft Teams",
    slack: "Slack",
    telegram: "Telegram",
    webhook: "Webhook",
    apprise: "その他（Apprise 経由）",
  },
  fields: {
    url: "URL",
    to: "宛先",
    from: "差出人",
    server: "メールサーバー",
    port: "ポート",
    user: "ユーザー名（任意）",
    password: "パスワード",
    token: "ボットのトークン",
    chats: "チャット",
  },
  how: {
    teams: "Teams のチャンネルに「Webhook 要求を受信したとき」のワークフローを追加し、その URL をコピーします。",
    slack: "Slack のチャンネルに「Incoming Webhooks」を追加し、Webhook の URL をコピーします。",
    webhook: "https://… ここに JSON を送ります。",
    apprise: "Apprise のアドレス。例: ntfy://… や matrix://… 一覧は Apprise の Wiki にあります。",
  },
  forms: {
    teams: {
      pattern: "https://.+/workflows/.+/triggers/manual/paths/invoke.+",
      title: "https://…/workflows/…/triggers/manual/paths/invoke?…",
    },
    slack: {
      pattern: "https://hooks\\.slack\\.com/services/.+/.+/.+",
      title: "https://hooks.slack.com/services/…/…/…",
    },
  },
  toHow: "1つ以上のアドレスをカンマで区切ります。",
  security: "暗号化",
  securities: {
    starttls: "STARTTLS",
    ssl: "TLS",
    insecure: "なし",
  },
  tokenHow: "Telegram で @BotFather にボットを頼むと、トークンが返ります。",
  tokenForm: "数字、コロン、英数字",
  chatsHow: "チャットの ID、または @shops のようなチャンネル名をカンマで区切ります。ボットを各チャットに追加してください。",
};
