/**
 * Which displays the table shows, in which order. The order is frozen after each sort or filter, so
 * that rows do not run away under the pointer; `changed` counts what a new sort would move.
 */
import { computed, effect, signal, untracked } from "../vendor/signals.js";
import { clients, version } from "./fleet.js";
import { nameOf } from "./format.js";
import { param } from "./url.js";

/** @typedef {import("./types").Client} Client */

const status = param("status");
const text = param("q");
const sort = param("sort");

/** Worst first. @type {Record<string, number>} */
const SEVERITY = { crashed: 0, stale: 1, late: 3, starting: 4, stopped: 5, unknown: 6, running: 7 };
const FAILED_SEVERITY = 2; // a running display with a failed service stands behind the crashed and the stale ones
const names = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** @param {Client} client */
const severity = (client) => Math.min(SEVERITY[client.status] ?? 8, client.service_failed_at ? FAILED_SEVERITY : 8);

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

export const sorting = computed(() => {
  const word = sort.value || "status";
  const down = word.startsWith("-");
  const column = down ? word.slice(1) : word;
  return { column: column in KEYS ? column : "status", down };
});

/** @param {Client} client @param {string} wanted a lower-case text */
function matchesText(client, wanted) {
  const fields = [
    client.name,
    client.uuid,
    client.site,
    client.hostname,
    client.ip,
    client.app_version,
    ...(client.tags ?? []),
  ];
  return fields.some((field) => field?.toLowerCase().includes(wanted));
}

/** @param {Client} client @param {string} word */
function matchesStatus(client, word) {
  return !word || client.status === word || (word === "running" && client.status === "late");
}

let sortedBefore = /** @type {string[]} */ ([]);

/** Every display, sorted anew from the last order: few have moved since, and comparing names is what costs. */
const ordered = computed(() => {
  void version.value;
  const { column, down } = sorting.value;
  const key = KEYS[column] ?? severity;
  /** @param {string | number} a @param {string | number} b */
  const compare = (a, b) => (typeof a === "number" ? a - Number(b) : names.compare(a, String(b)));
  const known = new Set(sortedBefore);
  const all = [...sortedBefore, ...[...clients.keys()].filter((uuid) => !known.has(uuid))]
    .map((uuid) => clients.get(uuid))
    .filter((client) => client !== undefined);
  all.sort(
    (a, b) =>
      (down ? -1 : 1) * compare(key(a), key(b)) || names.compare(nameOf(a), nameOf(b)) || (a.uuid < b.uuid ? -1 : 1),
  );
  sortedBefore = all.map((client) => client.uuid);
  return all;
});

/** Those of them that match the filters. */
const fresh = computed(() => {
  const wanted = text.value.trim().toLowerCase();
  return ordered.value.filter(
    (client) => matchesStatus(client, status.value) && (!wanted || matchesText(client, wanted)),
  );
});

/** The frozen order: uuids, and what each was sorted by when it was frozen. */
const frozen = signal({ uuids: /** @type {string[]} */ ([]), keys: new Map() });

function freeze() {
  const rows = fresh.value;
  const key = KEYS[sorting.value.column] ?? severity;
  frozen.value = { uuids: rows.map((row) => row.uuid), keys: new Map(rows.map((row) => [row.uuid, key(row)])) };
}

effect(() => {
  void [status.value, text.value, sorting.value];
  untracked(freeze);
});

/** Sort again, now. */
export const resort = freeze;

/** How many displays would enter, leave or move; heartbeat ages always move and are not counted. */
export const changed = computed(() => {
  const { uuids, keys } = frozen.value;
  const now = fresh.value;
  const key = KEYS[sorting.value.column] ?? severity;
  const listed = new Set(now.map((row) => row.uuid));
  const moves = sorting.value.column !== "hb";
  const entered = now.filter((row) => !keys.has(row.uuid) || (moves && keys.get(row.uuid) !== key(row))).length;
  return entered + uuids.filter((uuid) => clients.has(uuid) && !listed.has(uuid)).length;
});

// The first answer fills an empty table: there is nothing yet that could run away.
effect(() => {
  if (version.value > 0 && untracked(() => frozen.value.uuids.length === 0)) untracked(freeze);
});

/** What the table shows, in its frozen order, without displays that were deleted. */
export const rows = computed(() => {
  void version.value;
  return frozen.value.uuids.filter((uuid) => clients.has(uuid));
});

/** @param {string} column */
export function nextSort(column) {
  if (sorting.value.column !== column) return column;
  return sorting.value.down ? column : `-${column}`;
}
