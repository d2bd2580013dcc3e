/** Sort orders of displays. */
import { nameOf } from "./format.js";
import { language } from "./language.js";
import { isUnwell } from "./unwell.js";

/** @typedef {import("./types").Client} Client */
/** @typedef {{column: string, down: boolean}} Sorting */
/**
 * @typedef {{uuids: string[], keys: Map<string, string | number>}} Frozen
 *   uuids in their order, and the sort key of each
 */

/** Worst first. @type {Record<string, number>} */
const SEVERITY = { crashed: 0, stale: 1, late: 3, starting: 4, stopped: 5, unknown: 6, running: 7 };
const FAILED_SEVERITY = 2; // it runs, but fails otherwise
const names = new Intl.Collator(language, { numeric: true, sensitivity: "base" });

/** @param {Client} client */
const severity = (client) => Math.min(SEVERITY[client.status] ?? 8, isUnwell(client) ? FAILED_SEVERITY : 8);

/** What each column sorts by. @type {Record<string, (client: Client) => string | number>} */
const KEYS = {
  status: severity,
  name: nameOf,
  site: (client) => client.site ?? "",
  hb: (client) => (client.last_heartbeat_at ? Date.parse(client.last_heartbeat_at) : 0),
  version: (client) => client.app_version ?? "",
  ip: (client) => client.ip ?? "",
  rc: (client) => client.mqtt_reconnect_count ?? -1,
};

/** @param {Sorting} sorting */
const keyOf = ({ column }) => KEYS[column] ?? severity;

/** The address says "name", or "-name" for downwards. @param {string} word @returns {Sorting} */
export function sortingOf(word) {
  const down = word.startsWith("-");
  const column = down ? word.slice(1) : word;
  return column in KEYS ? { column, down } : { column: "status", down };
}

/** What the address says after a click on this column's heading. @param {Sorting} sorting @param {string} column */
export function nextSort(sorting, column) {
  return sorting.column === column && !sorting.down ? `-${column}` : column;
}

/** Sort in place; equal ones by name, then by uuid. @param {Client[]} all @param {Sorting} sorting */
export function sort(all, sorting) {
  const key = keyOf(sorting);
  const sign = sorting.down ? -1 : 1;
  /** @param {string | number} a @param {string | number} b */
  const compare = (a, b) => (typeof a === "number" ? a - Number(b) : names.compare(a, String(b)));
  return all.sort(
    (a, b) => sign * compare(key(a), key(b)) || names.compare(nameOf(a), nameOf(b)) || (a.uuid < b.uuid ? -1 : 1),
  );
}

/** Remember an order. @param {Client[]} rows @param {Sorting} sorting @returns {Frozen} */
export function freeze(rows, sorting) {
  const key = keyOf(sorting);
  return { uuids: rows.map((row) => row.uuid), keys: new Map(rows.map((row) => [row.uuid, key(row)])) };
}

/**
 * How many displays would enter, leave or move in a new order. Changes of age alone do not count.
 * @param {Frozen} frozen @param {Client[]} rows @param {Sorting} sorting @param {(uuid: string) => boolean} exists
 */
export function countChanged(frozen, rows, sorting, exists) {
  const key = keyOf(sorting);
  const moves = sorting.column !== "hb";
  const listed = new Set(rows.map((row) => row.uuid));
  const entered = rows.filter((row) => !frozen.keys.has(row.uuid) || (moves && frozen.keys.get(row.uuid) !== key(row)));
  return entered.length + frozen.uuids.filter((uuid) => exists(uuid) && !listed.has(uuid)).length;
}
