// @ts-check
/** Who is signed in, and what that role may do. */
import { computed, signal } from "../vendor/signals.js";
import * as api from "./api.js";

/** @typedef {import("./types").Principal} Principal */

/** undefined: not asked yet; null: nobody. */
export const principal = signal(/** @type {Principal | null | undefined} */ (undefined));

/** Until this person has set a password of their own, the service lets them do nothing else. */
export const mustChangePassword = signal(false);

export const mayOperate = computed(() => principal.value?.role === "operator" || principal.value?.role === "admin");
export const mayAdminister = computed(() => principal.value?.role === "admin");

/** @param {import("./types").Session | null} session */
function take(session) {
  mustChangePassword.value = session?.must_change_password ?? false;
  principal.value = session?.principal ?? null;
}

const SIGNED_IN_BEFORE = "signage.signed-in";

/** Whether somebody signed in with this browser and did not sign out. @param {boolean} [now] write it down */
function signedInBefore(now) {
  try {
    if (now !== undefined) now ? localStorage.setItem(SIGNED_IN_BEFORE, "1") : localStorage.removeItem(SIGNED_IN_BEFORE);
    return localStorage.getItem(SIGNED_IN_BEFORE) !== null;
  } catch {
    return true; // no storage: the service has to be asked
  }
}

/** Ask the service who this browser is signed in as. On a first visit the answer is known: a 401 in the console. */
export async function recall() {
  take(signedInBefore() ? await api.whoIsHere() : null);
  signedInBefore(principal.value !== null);
}

/** @param {string} username @param {string} password */
export async function signIn(username, password) {
  take(await api.signIn(username, password));
  signedInBefore(true);
  api.signedIn();
}

/** @param {string} current @param {string} fresh */
export async function changePassword(current, fresh) {
  await api.changePassword(current, fresh);
  mustChangePassword.value = false;
}

/** End the session here and on the service, and forget everything this page knew. */
export async function signOut() {
  await api.signOut();
  signedInBefore(false);
  location.assign(location.pathname);
}
