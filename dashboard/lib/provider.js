/** Leaving for the sign-in service and coming back: the page remembers where it was; no address is taken from anybody. */
import { go } from "./url.js";

const LEFT = "signage.at-provider";
/** The key with which the service says why it let nobody in. */
const REASON = "sign-in";

/** @param {string} address of the sign-in service, from the service */
export function leaveFor(address) {
  try {
    sessionStorage.setItem(LEFT, location.search);
  } catch {
    // no storage: the page opens at its beginning
  }
  location.assign(address);
}

/**
 * Go on where the page was left, and take the reason out of the address.
 * @returns {{reason: string} | null} null when nobody comes back; an empty reason: the person was let in
 */
export function comeBack() {
  const reason = new URLSearchParams(location.search).get(REASON);
  const left = taken();
  if (left === null && reason === null) return null;
  go({ ...Object.fromEntries(new URLSearchParams(left ?? "")), [REASON]: null }, { replace: true });
  return { reason: reason ?? "" };
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
