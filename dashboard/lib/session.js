/** Who is signed in, and what that role may do. */
import { computed, signal } from "../vendor/signals.js";
import { ApiProblem, signedIn, whenForbidden } from "./api/call.js";
import * as api from "./api/session.js";

/** @typedef {import("./types").Principal} Principal */

/** undefined: not asked yet; null: nobody. */
export const principal = signal(/** @type {Principal | null | undefined} */ (undefined));

/** Until this person has set a password of their own, the service lets them do nothing else. */
export const mustChangePassword = signal(false);

/** The same until they have set up a second factor, where people of their role must have one. */
export const mustSetUpSecondFactor = signal(false);

export const mayOperate = computed(() => principal.value?.role === "operator" || principal.value?.role === "admin");
export const mayAdminister = computed(() => principal.value?.role === "admin");

/** @param {import("./types").Session | null} session */
function take(session) {
  mustChangePassword.value = session?.must_change_password ?? false;
  mustSetUpSecondFactor.value = session?.must_set_up_second_factor ?? false;
  principal.value = session?.principal ?? null;
}

const SIGNED_IN_BEFORE = "signage.signed-in";

/**
 * Whether somebody signed in with this browser and did not sign out.
 * @param {boolean} [now] write it down, for other tabs too
 */
function signedInBefore(now) {
  try {
    if (now === false) localStorage.removeItem(SIGNED_IN_BEFORE);
    else if (now) localStorage.setItem(SIGNED_IN_BEFORE, String(Date.now())); // a new value: other tabs are told
    return localStorage.getItem(SIGNED_IN_BEFORE) !== null;
  } catch {
    return true; // no storage: the service has to be asked
  }
}

/** A proxy before the service knows who comes: nobody signs in or out on this page. */
export const byProxy = signal(false);

/**
 * Ask the service who is here. On a first visit where people sign in with a password nobody is: that would be a 401.
 */
export async function recall() {
  const before = signedInBefore();
  const asked = api.signInMethod().catch(() => null); // no answer, or a service of before this: by a password
  const known = before ? await api.whoIsHere() : null;
  byProxy.value = (await asked)?.method === "proxy";
  take(byProxy.value && !before ? await api.whoIsHere() : known);
  if (principal.value === null) signedInBefore(false);
}

/** What somebody may do has changed under this page, or another tab has signed in: what it offers follows. */
async function ask() {
  const session = await api.whoIsHere().catch(() => null); // no answer: the page stays as it is, and its calls say why
  if (!session) return;
  if (session.principal.name !== principal.value?.name) return location.reload(); // somebody else's page
  take(session);
  signedIn();
}
whenForbidden(() => void ask());

const ENDED_ELSEWHERE = "signage.ended-elsewhere";

/** Whether this page was left by signing out in another tab; said once. */
export function endedElsewhere() {
  const ended = sessionStorage.getItem(ENDED_ELSEWHERE) !== null;
  sessionStorage.removeItem(ENDED_ELSEWHERE);
  return ended;
}

// Only other tabs hear this. Signing out there ends this page too, with nothing of the fleet left on it.
addEventListener("storage", (event) => {
  if (event.key !== SIGNED_IN_BEFORE || !principal.value) return;
  if (event.newValue !== null) return void ask();
  sessionStorage.setItem(ENDED_ELSEWHERE, "1");
  location.reload();
});

/** @param {string} username @param {string} password @param {string} code of a second factor, or empty */
export async function signIn(username, password, code) {
  take(await api.signIn(username, password, code));
  signedInBefore(true);
  signedIn();
}

/** Signing out did not reach the service: this browser is still signed in. */
export const signOutFailed = signal(false);

/** End the session on the service and here, and forget everything this page knew. */
export async function signOut() {
  signOutFailed.value = false;
  try {
    await api.signOut();
  } catch (error) {
    const over = error instanceof ApiProblem && error.status === 401; // it had ended already
    if (!over) {
      signOutFailed.value = true;
      return;
    }
  }
  signedInBefore(false);
  location.assign(location.pathname);
}
