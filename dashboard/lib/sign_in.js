/** The sign-in page: with a password, and after a sign-out elsewhere. */
import { signedIn } from "./api/call.js";
import * as api from "./api/sign_in.js";
import { ENDED_ELSEWHERE, signedInBefore, take } from "./session.js";

/** @param {string} username @param {string} password @param {string} code of a second factor, or empty */
export async function signIn(username, password, code) {
  take(await api.signIn(username, password, code));
  signedInBefore(true);
  signedIn();
}

/** Whether a sign-out in another tab ended this page; shown once. */
export function endedElsewhere() {
  const ended = sessionStorage.getItem(ENDED_ELSEWHERE) !== null;
  sessionStorage.removeItem(ENDED_ELSEWHERE);
  return ended;
}
