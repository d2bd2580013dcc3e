// Generated from shared/words/de/page/channel_address.ftl
export const addressWords = {
  anew: "Andere Adresse…",
  services: {
    mail: "E-Mail",
    teams: "Microsoft Teams",
    slack: "Slack",
    telegram: "Telegram",
    webhook: "Webhook",
    apprise: "Anderer Dienst, über Apprise",
  },
  fields: {
    url: "URL",
    to: "An",
    from: "Absender",
    server: "Mailserver",
    port: "Port",
    user: "Benutzername (optional)",
    password: "Passwort",
    token: "Token des Bots",
    chats: "Chats",
  },
  how: {
    teams: "In Teams einem Kanal den Workflow „Wenn eine Webhook-Anforderung empfangen wird“ hinzufügen und dessen URL kopieren.",
    slack: "In Slack einem Kanal „Incoming Webhooks“ hinzufügen und die URL des Webhooks kopieren.",
    webhook: "https://… Dorthin sendet der Server sein JSON.",
    apprise: "Eine Adresse von Apprise, etwa ntfy://… oder matrix://… Dessen Wiki nennt hundert Dienste.",
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
  toHow: "Eine Adresse oder mehrere, durch Kommas getrennt.",
  security: "Verschlüsselung",
  securities: {
    starttls: "STARTTLS",
    ssl: "TLS",
    insecure: "keine",
  },
  tokenHow: "@BotFather in Telegram um einen Bot bitten; er antwortet mit dem Token.",
  tokenForm: "eine Zahl, ein Doppelpunkt, Buchstaben und Ziffern",
  chatsHow: "IDs von Chats oder Namen von Kanälen wie @shops, durch Kommas getrennt. Der Bot muss in jedem Mitglied sein.",
};
