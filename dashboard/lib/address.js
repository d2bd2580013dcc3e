/** The parts of the page's address: `/?v=fleet&status=crashed&q=hall&sort=-hb&d=<uuid>&tab=logs`. */

/** @typedef {"fleet" | "incidents" | "quiet" | "availability" | "batches" | "logs" | "conversions" | "settings" | "wall"} View */

/** @type {View[]} */
export const VIEWS = [
  "fleet",
  "incidents",
  "quiet",
  "availability",
  "batches",
  "logs",
  "conversions",
  "settings",
  "wall",
];

/** @param {URLSearchParams} query */
export function viewOf(query) {
  const word = query.get("v");
  return VIEWS.find((name) => name === word) ?? "fleet";
}

/**
 * The query with some keys changed; empty or null removes one.
 * @param {URLSearchParams} query @param {Record<string, string | null>} changes
 */
export function withChanges(query, changes) {
  const next = new URLSearchParams(query);
  for (const [key, value] of Object.entries(changes)) {
    if (value) next.set(key, value);
    else next.delete(key);
  }
  return next;
}
