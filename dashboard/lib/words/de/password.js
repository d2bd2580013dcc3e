// Generated from shared/words/de/page/password.ftl
export const passwordWords = {
  title: "Eigenes Passwort setzen",
  why: "Ihr erstes Passwort wurde erzeugt. Bitte ein eigenes setzen, bevor es weitergeht.",
  current: "Bisheriges Passwort",
  fresh: "Neues Passwort",
  go: "Passwort setzen",
  going: "Wird gesetzt…",
  wrong: "Das bisherige Passwort ist falsch.",
};
