/** The signed-in person and the rights of the role. */
import { computed, signal } from "../vendor/signals.js";
import { ApiProblem, signedIn, whenForbidden } from "./api/call.js";
import * as api from "./api/session.js";

/** @typedef {import("./types").Principal} Principal */

/** undefined: not known yet; null: nobody is signed in. */
export const principal = signal(/** @type {Principal | null | undefined} */ (undefined));

/** The person must set an own password before anything else. */
export const mustChangePassword = signal(false);

/** The person must set up a second factor before anything else. */
export const mustSetUpSecondFactor = signal(false);

/** The person signed in at the sign-in service. */
export const byProvider = signal(false);

export const mayOperate = computed(() => principal.value?.role === "operator" || principal.value?.role === "admin");
export const mayAdminister = computed(() => principal.value?.role === "admin");

/** @param {import("./types").Session | null} session */
export function take(session) {
  mustChangePassword.value = session?.must_change_password ?? false;
  mustSetUpSecondFactor.value = session?.must_set_up_second_factor ?? false;
  byProvider.value = session?.by_provider ?? false;
  principal.value = session?.principal ?? null;
}

const SIGNED_IN_BEFORE = "signage.signed-in";

/**
 * Whether a person signed in with this browser and did not sign out.
 * @param {boolean} [now] write it down, for other tabs too
 */
export function signedInBefore(now) {
  try {
    if (now === false) localStorage.removeItem(SIGNED_IN_BEFORE);
    else if (now) localStorage.setItem(SIGNED_IN_BEFORE, String(Date.now())); // a new value notifies other tabs
    return localStorage.getItem(SIGNED_IN_BEFORE) !== null;
  } catch {
    return true; // no storage: ask the service
  }
}

/** A proxy before the service identifies people: nobody signs in or out on this page. */
export const byProxy = signal(false);

/** The name of the sign-in service; null: none. */
export const provider = signal(/** @type {string | null} */ (null));

/**
 * Ask the service for the signed-in person. Not at a first visit with password sign-in: the answer would be a 401.
 */
export async function recall() {
  const isBack = "signage.at-provider" in sessionStorage || location.search.includes("sign-in=");
  const back = isBack && (await import("./provider.js")).comeBack();
  const before = signedInBefore() || back;
  const asked = api.signInMethod().catch(() => null); // no answer, or an older service: sign-in by password
  const known = before ? await api.whoIsHere() : null;
  const how = await asked;
  byProxy.value = how?.method === "proxy";
  provider.value = how?.provider ?? null;
  take(byProxy.value && !before ? await api.whoIsHere() : known);
  if (principal.value === null) signedInBefore(false);
  else if (back) signedInBefore(true);
}

/** Update the page after a change of the rights, or after a sign-in in another tab. */
async function ask() {
  const session = await api.whoIsHere().catch(() => null); // no answer: the page does not change; its calls show the error
  if (!session) return;
  if (session.principal.name !== principal.value?.name) return location.reload(); // another person has signed in
  take(session);
  signedIn();
}
whenForbidden(() => void ask());

export const ENDED_ELSEWHERE = "signage.ended-elsewhere";

// Only other tabs get this event. A sign-out there ends this page, too, and removes the fleet's data.
addEventListener("storage", (event) => {
  if (event.key !== SIGNED_IN_BEFORE || !principal.value) return;
  if (event.newValue !== null) return void ask();
  sessionStorage.setItem(ENDED_ELSEWHERE, "1");
  location.reload();
});

/** The sign-out did not reach the service: this browser is still signed in. */
export const signOutFailed = signal(false);

/** End the session at the service and here, and forget all data of this page. */
export async function signOut() {
  signOutFailed.value = false;
  let address = null;
  try {
    address = (await api.signOut())?.address;
  } catch (error) {
    const over = error instanceof ApiProblem && error.status === 401; // the session had ended before
    if (!over) {
      signOutFailed.value = true;
      return;
    }
  }
  signedInBefore(false);
  location.assign(address ?? location.pathname);
}
