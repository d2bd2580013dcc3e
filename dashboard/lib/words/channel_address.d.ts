// Generated from shared/words/*/page/channel_address.ftl
export const addressWords: {
  anew: string;
  services: {
    mail: string;
    teams: string;
    slack: string;
    telegram: string;
    webhook: string;
    apprise: string;
  } & Record<string, string>;
  fields: {
    url: string;
    to: string;
    from: string;
    server: string;
    port: string;
    user: string;
    password: string;
    token: string;
    chats: string;
  } & Record<string, string>;
  how: {
    teams: string;
    slack: string;
    webhook: string;
    apprise: string;
  } & Record<string, string>;
  forms: {
    teams: {
      pattern: string;
      title: string;
    } & Record<string, string>;
    slack: {
      pattern: string;
      title: string;
    } & Record<string, string>;
  } & Record<string, {
      pattern: string;
      title: string;
    } & Record<string, string>>;
  toHow: string;
  security: string;
  securities: {
    starttls: string;
    ssl: string;
    insecure: string;
  } & Record<string, string>;
  tokenHow: string;
  tokenForm: string;
  chatsHow: string;
};
