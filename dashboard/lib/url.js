/** The page's state is in its address; only `go` changes it. */
import { computed, signal } from "../vendor/signals.js";
import { viewOf, withChanges } from "./address.js";

/** @typedef {import("./address.js").View} View */

/** @type {import("../vendor/signals.js").Signal<URLSearchParams>} */
const current = signal(new URLSearchParams(location.search));

export const view = computed(() => viewOf(current.value));

/** How many entries this page has added to the browser's history, so that closing can go back. */
let depth = 0;

/**
 * The value of one key as a signal: components that read it render only when it changes.
 * @param {string} key
 */
export function param(key) {
  return computed(() => current.value.get(key) ?? "");
}

/**
 * Change some keys (empty or null removes one).
 * @param {Record<string, string | null>} changes
 * @param {{replace?: boolean}} [how] `replace` leaves no step to go back to (typing in a search field)
 */
export function go(changes, { replace = false } = {}) {
  const next = withChanges(current.value, changes);
  if (next.toString() === current.value.toString()) return;
  const address = next.size ? `?${next}` : location.pathname;
  if (replace) history.replaceState({ depth }, "", address);
  else history.pushState({ depth: ++depth }, "", address);
  current.value = next;
}

/** @param {View} name */
export function goToView(name) {
  const keep = name === "fleet" ? null : name;
  const cleared = Object.fromEntries([...current.value.keys()].map((key) => [key, null]));
  go({ ...cleared, v: keep });
}

/** The history depth at which the display panel was opened; null when the page was loaded with it open. */
let openedAt = /** @type {number | null} */ (null);

/** @param {string} uuid */
export function openDisplay(uuid) {
  const alreadyOpen = Boolean(current.value.get("d"));
  go({ d: uuid, tab: null, level: null, lq: null }, { replace: alreadyOpen });
  if (!alreadyOpen) openedAt = depth;
}

/** Close the display panel: go back if opening was the last step, so that Back never opens it again. */
export function closeDisplay() {
  if (openedAt !== null && openedAt === depth) history.back();
  else go({ d: null, tab: null, level: null, lq: null });
}

addEventListener("popstate", (event) => {
  depth = event.state?.depth ?? 0;
  current.value = new URLSearchParams(location.search);
});
