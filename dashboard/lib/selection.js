/** The displays selected for a bulk command, by uuid, so that filters and sorting keep the selection. */
import { computed, signal } from "../vendor/signals.js";
import { clients, version } from "./fleet.js";

/** @type {import("../vendor/signals.js").Signal<ReadonlySet<string>>} */
const picked = signal(new Set());

/** The selected displays that still exist. */
export const chosen = computed(() => {
  void version.value;
  return [...picked.value].filter((uuid) => clients.has(uuid));
});

/** @param {string} uuid */
export const isChosen = (uuid) => picked.value.has(uuid);

/** @param {string[]} uuids @param {boolean} on */
export function choose(uuids, on) {
  const next = new Set(picked.value);
  for (const uuid of uuids) on ? next.add(uuid) : next.delete(uuid);
  picked.value = next;
}

let last = "";

/**
 * Choose one row, or the rows from the one before to this one.
 * @param {string[]} listed in their order @param {string} uuid @param {boolean} on @param {boolean} range
 */
export function chooseTo(listed, uuid, on, range) {
  const [before, here] = [listed.indexOf(last), listed.indexOf(uuid)];
  const all = listed.slice(Math.min(before, here), Math.max(before, here) + 1);
  choose(range && before >= 0 ? all : [uuid], on);
  last = uuid;
}

/** The content of the dialog for a bulk command; null while it is closed. */
export const asking = signal(/** @type {import("./types").Action | null} */ (null));

export function chooseNone() {
  picked.value = new Set();
}
