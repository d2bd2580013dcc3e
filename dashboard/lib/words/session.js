// Generated from shared/words/en/page/session.ftl
import { translate } from "../language.js";
export const sessionWords = {
  user: "User name",
  password: "Password",
  show: "Show what I type",
  go: "Sign in",
  going: "Signing in…",
  wrong: "That did not work. Check the user name and the password.",
  code: "Code",
  codeHow: "The six digits that your app shows now, or a recovery code.",
  codeWrong: "That code did not work. Wait for the next one and try again.",
  wait: ({ left }) => `Too many failed attempts. Try again in ${left}.`,
  endedElsewhere: "You signed out in another tab.",
  again: "Sign in again",
  againWhy: "Your session has ended. The page stays as it is; sign in and carry on.",
  goTo: ({ name }) => `Sign in with ${name}`,
  or: "or",
  reasons: {
    denied_by_provider: "The sign-in service did not let you in.",
    groups_left_out: "Your groups are too many for the sign-in service to send. Those who manage it can send app roles instead.",
    last_admin: "You are the only admin with a password, and the sign-in service gives you other rights. Sign in with your password and add another admin first.",
    no_role_at_provider: "The sign-in service knows you, but gives you no role here. Ask those who manage it.",
    no_site_at_provider: "The sign-in service gives you a role here, but no site. Ask those who manage it.",
    person_disabled: "Your account here is disabled. Ask an admin.",
    provider_unavailable: "The sign-in service does not answer. Try again, or sign in with a password.",
    too_many_attempts: "Too many failed attempts. Try again later.",
    try_over: "That sign-in took too long, or began in another window. Try again.",
  },
  someReason: "The answer of the sign-in service was not accepted. Try again; if it happens again, tell the person who runs this service.",
  byProxy: "Your session has ended. Reload the page to sign in; it opens where you left off.",
};
translate("session", { sessionWords });
