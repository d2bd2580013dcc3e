/**
 * The fleet's data on this page: one snapshot, then deltas.
 *
 * A row that this page is changing is guarded: what an earlier poll says about it is discarded.
 * That poll does not move the cursor on, so the next one brings the row again.
 *
 * Of a large fleet it keeps each place's counts, the displays that need help, and those asked for.
 */
import { computed, signal } from "../vendor/signals.js";
import * as api from "./api/fleet.js";
import { learn, serverNow } from "./clock.js";
import { filtered, kept } from "./filter.js";
import { unpack } from "./packed.js";
import { poll } from "./poll.js";
import { quietTimes } from "./quiet.js";
import { isUnwell } from "./unwell.js";
import { referenceOf } from "./problems.js";

/** @typedef {import("./types").Client} Client */
/** @typedef {import("./types").Failure} Failure */
/** @typedef {import("./types").Overview} Overview */

const PERIOD = 5_000;
const PERIOD_WITH_COMMAND = 1_500;
const HEARTBEATS_EVERY = 30_000;
const SMALL_FLEET = 300; // displays: up to so many the page fetches heartbeats with every poll

/** @type {Map<string, Client>} every client by uuid; `version` tells when it changed */
export const clients = new Map();
export const version = signal(0);
/** Counts, bridge, scheduler and breaker of the last answer. */
export const overview = signal(/** @type {Overview | null} */ (null));
/** The counts of each site of a large fleet; null: `clients` has every display. */
export const places = signal(/** @type {Map<string | null, import("./types").Place> | null} */ (null));
/** The number of displays. */
export const total = computed(() => {
  void version.value;
  return places.value ? (overview.value?.counts.total ?? 0) : clients.size;
});
/** Recorded service failures, newest first. */
export const failures = signal(/** @type {Failure[]} */ ([]));
/** Server time of the last answer, as RFC 3339; null before the first. */
export const updatedAt = signal(/** @type {string | null} */ (null));
/** The last poll failed: the page shows old data. */
export const failing = signal(false);
/** The reference of that failure; empty when the service did not answer. */
export const reference = signal("");
export const updating = computed(() => updatedAt.value !== null && !failing.value);
/** The number of own open commands: with any, the page polls faster. */
export const ownCommandsOpen = signal(0);

/** @type {((gone: Failure[]) => void)[]} */
const onFailuresGone = [];
/**
 * Register a callback for failures that left the list without an acknowledgement on this page.
 * @param {(gone: Failure[]) => void} listener
 */
export function whenFailuresLeave(listener) {
  onFailuresGone.push(listener);
}

// --- guards ---

/** @type {Map<string, {open: number, settledAt: number}>} */
const guards = new Map();

/**
 * Guard one client's row while `change` runs, and against polls that started before it settled.
 * @template T @param {string} uuid @param {() => Promise<T>} change
 * @returns {Promise<T>}
 */
export async function changing(uuid, change) {
  const guard = guards.get(uuid) ?? { open: 0, settledAt: 0 };
  guards.set(uuid, guard);
  guard.open++;
  try {
    return await change();
  } finally {
    guard.open--;
    guard.settledAt = performance.now();
  }
}

/** @param {string} uuid @param {number} startedAt */
function isGuarded(uuid, startedAt) {
  const guard = guards.get(uuid);
  return guard !== undefined && (guard.open > 0 || guard.settledAt >= startedAt);
}

// --- merging ---

/** Write what is known about one client into its row. @param {string} uuid @param {Partial<Client>} changes */
export function change(uuid, changes) {
  const row = clients.get(uuid);
  if (!row) return;
  clients.set(uuid, { ...row, ...changes });
  version.value++;
}

/**
 * Merge the rows of an answer; true when a guarded row was ignored. After a full answer, clients without a row are
 * removed.
 * @param {Overview} answer @param {number} startedAt
 */
function mergeRows(answer, startedAt) {
  /** @type {Client[]} */
  const rows = unpack(answer.packed, answer.server_time);
  const gone = answer.full ? [...clients.keys()] : answer.gone;
  const present = new Set(answer.full ? rows.map((row) => row.uuid) : []);
  for (const uuid of gone) if (!present.has(uuid)) clients.delete(uuid);
  let leftOut = false;
  for (const row of rows) {
    if (isGuarded(row.uuid, startedAt)) leftOut = true;
    else if (answer.full || !answer.large || isWanted(row)) clients.set(row.uuid, row);
  }
  return leftOut;
}

/** Whether a large fleet needs a row. @param {Client} row */
const isWanted = (row) =>
  clients.has(row.uuid) || isUnwell(row) || row.shared_login_seen_at || (filtered.value && kept(row));

/** Merge the places' counts; false: a moved display is counted twice, ask for the whole. @param {Overview} answer */
function mergePlaces({ large, full, counts }) {
  const after = new Map(full ? [] : places.value);
  for (const place of large?.places ?? []) place.total ? after.set(place.site, place) : after.delete(place.site);
  places.value = large ? after : null;
  return full || !large || [...after.values()].reduce((sum, place) => sum + place.total, 0) === counts.total;
}

/**
 * Take displays. What changed meanwhile comes again with the next poll.
 * @param {() => Promise<import("./types").Displays>} load
 */
export async function take(load) {
  const startedAt = performance.now();
  const since = cursor;
  const answer = await load();
  for (const row of unpack(answer.packed, answer.server_time))
    if (!isGuarded(row.uuid, startedAt)) clients.set(row.uuid, row);
  cursor = since;
  taken++;
  version.value++;
  return answer;
}

/** @param {Overview} answer */
function mergeHeartbeats(answer) {
  for (const { uuid, last_heartbeat_at } of unpack(answer.packed_heartbeats ?? { uuid: "" }, answer.server_time)) {
    const row = clients.get(uuid);
    if (row && row.last_heartbeat_at !== last_heartbeat_at) clients.set(uuid, { ...row, last_heartbeat_at });
  }
}

/** @param {Overview} answer @param {number} startedAt */
function mergeFailures(answer, startedAt) {
  const before = failures.value;
  const guarded = before.filter((failure) => isGuarded(failure.uuid, startedAt));
  const heard = answer.service_failed.filter((failure) => !isGuarded(failure.uuid, startedAt));
  const after = [...heard, ...guarded].sort(
    (a, b) => Date.parse(b.service_failed_at) - Date.parse(a.service_failed_at),
  );
  failures.value = after;
  const still = new Set(after.map((failure) => failure.uuid));
  const left = before.filter((failure) => !still.has(failure.uuid) && clients.has(failure.uuid));
  if (left.length) for (const listener of onFailuresGone) listener(left);
}

// --- polling ---

let cursor = /** @type {string | null} */ (null);
let heartbeatsAt = 0;
let taken = 0;

/** @param {Overview} answer @param {number} startedAt @param {boolean} alone nothing was taken meanwhile */
function merge(answer, startedAt, alone) {
  const leftOut = mergeRows(answer, startedAt);
  const right = mergePlaces(answer);
  mergeHeartbeats(answer);
  mergeFailures(answer, startedAt);
  if (!leftOut && alone) cursor = answer.cursor;
  if (!right) cursor = null;
  overview.value = answer;
  if (answer.quiet_times) quietTimes.value = answer.quiet_times;
  updatedAt.value = answer.server_time;
  failing.value = false;
  if (answer.full || answer.packed.uuid || answer.gone.length > 0 || answer.packed_heartbeats?.uuid) version.value++;
}

/** @param {AbortSignal} abort */
async function round(abort) {
  const startedAt = performance.now();
  const sentAt = Date.now();
  const since = cursor;
  const before = taken;
  const heartbeats =
    since !== null && !places.value && (clients.size <= SMALL_FLEET || startedAt - heartbeatsAt > HEARTBEATS_EVERY);
  const answer = await api.overview({ since, heartbeats }, abort);
  learn(answer.server_time, sentAt);
  if (heartbeats || answer.full) heartbeatsAt = startedAt;
  merge(answer, startedAt, taken === before);
  const over = [...clients.values()].filter(
    ({ recovery }) => recovery?.until && Date.parse(recovery.until) < serverNow(),
  );
  if (over.length) await (await import("./renew_recovery.js")).renewRecovery(over, change, abort);
}

/** @type {ReturnType<typeof poll> | null} */
let polling = null;

/** Start to poll the fleet. */
export function watchFleet() {
  polling ??= poll(
    round,
    () => (ownCommandsOpen.value > 0 ? PERIOD_WITH_COMMAND : PERIOD),
    (error) => {
      failing.value = true;
      reference.value = referenceOf(error);
    },
  );
}

/** Poll now, after a change. */
export function refresh() {
  polling?.now();
}

/** Whether restart and reboot are locked now. @param {Pick<Client, "lockout_until">} client */
export function isLocked(client) {
  return client.lockout_until !== null && Date.parse(client.lockout_until) > serverNow();
}
