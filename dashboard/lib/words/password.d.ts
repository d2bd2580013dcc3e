// Generated from shared/words/*/page/password.ftl
export const passwordWords: {
  title: string;
  why: string;
  current: string;
  fresh: string;
  go: string;
  going: string;
  wrong: string;
} & Record<string, string>;
