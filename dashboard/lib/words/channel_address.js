// Generated from shared/words/en/page/channel_address.ftl
import { translate } from "../language.js";
export const addressWords = {
  anew: "Another address…",
  services: {
    mail: "E-mail",
    teams: "Microsoft Teams",
    slack: "Slack",
    telegram: "Telegram",
    webhook: "Webhook",
    apprise: "Another service, by Apprise",
  },
  fields: {
    url: "URL",
    to: "Send to",
    from: "Sender",
    server: "Mail server",
    port: "Port",
    user: "User name (optional)",
    password: "Password",
    token: "Token of the bot",
    chats: "Chats",
  },
  how: {
    teams: "In Teams, add the workflow “When a webhook request is received” to a channel, and copy its URL.",
    slack: "In Slack, add “Incoming webhooks” to a channel, and copy the webhook's URL.",
    webhook: "https://… The service posts its JSON there.",
    apprise: "An address of Apprise, such as ntfy://… or matrix://… Its wiki lists a hundred services.",
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
  toHow: "One address or more, separated by commas.",
  security: "Encryption",
  securities: {
    starttls: "STARTTLS",
    ssl: "TLS",
    insecure: "none",
  },
  tokenHow: "Ask @BotFather in Telegram for a bot; it answers with the token.",
  tokenForm: "a number, a colon, letters and digits",
  chatsHow: "Ids of chats, or names of channels such as @shops, separated by commas. Add the bot to each.",
};
translate("channel_address", { addressWords });
