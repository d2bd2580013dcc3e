/** Signing in. */
export const sessionWords = {
  user: "User name",
  password: "Password",
  go: "Sign in",
  going: "Signing in…",
  wrong: "That did not work. Check the user name and the password.",
  code: "Code",
  codeHow: "The six digits that your app shows now, or a recovery code.",
  codeWrong: "That code did not work. Wait for the next one and try again.",
  wait: (/** @type {string} */ left) => `Too many failed attempts. Try again in ${left}.`,
  endedElsewhere: "You signed out in another tab.",
  again: "Sign in again",
  againWhy: "Your session has ended. The page stays as it is; sign in and carry on.",
  byProxy: "Your session has ended. Reload the page to sign in; it opens where you left off.",
};
