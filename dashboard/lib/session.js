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

/** Ask the service who this browser is signed in as. */
export async function recall() {
  take(await api.whoIsHere());
}

/** @param {string} username @param {string} password */
export async function signIn(username, password) {
  take(await api.signIn(username, password));
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
  location.assign(location.pathname);
}
