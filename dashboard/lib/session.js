// @ts-check
/** Who is signed in, and what that role may do. */
import { computed, signal } from "../vendor/signals.js";
import * as api from "./api.js";

/** @typedef {import("./types").Principal} Principal */

/** undefined: not asked yet; null: nobody. */
export const principal = signal(/** @type {Principal | null | undefined} */ (undefined));

export const mayOperate = computed(() => principal.value?.role === "operator" || principal.value?.role === "admin");
export const mayAdminister = computed(() => principal.value?.role === "admin");

/** Ask the service who this browser is signed in as. */
export async function recall() {
  principal.value = await api.whoIsHere();
}

/** @param {string} username @param {string} password */
export async function signIn(username, password) {
  principal.value = await api.signIn(username, password);
  api.signedIn();
}

/** End the session here and on the service, and forget everything this page knew. */
export async function signOut() {
  await api.signOut();
  location.assign(location.pathname);
}
