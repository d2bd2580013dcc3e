/** Leaving for the sign-in service and coming back: the page remembers where it was; no address is taken from anybody. */
import { signal } from "../vendor/signals.js";
import { beginAtProvider } from "./api/sign_in.js";
import { go } from "./url.js";

const LEFT = "signage.at-provider";
/** The key with which the service says why it let nobody in. */
const REASON = "sign-in";

/** Why the sign-in service brought nobody in: a code of the service, or empty. */
export const providerReason = signal("");

/** Go to the sign-in service; the page is left. */
export async function signInAtProvider() {
  const { address } = await beginAtProvider();
  try {
    sessionStorage.setItem(LEFT, location.search);
  } catch {
    // no storage: the page opens at its beginning
  }
  location.assign(address);
}

/**
 * Go on where the page was left, and take the reason out of the address.
 * @returns {boolean} whether the person was let in, as far as the address tells
 */
export function comeBack() {
  const reason = new URLSearchParams(location.search).get(REASON);
  const left = taken();
  go({ ...Object.fromEntries(new URLSearchParams(left ?? "")), [REASON]: null }, { replace: true });
  providerReason.value = reason ?? "";
  return reason === null;
}

/** Where the page was left, once. */
function taken() {
  try {
    const left = sessionStorage.getItem(LEFT);
    sessionStorage.removeItem(LEFT);
    return left;
  } catch {
    return null;
  }
}
