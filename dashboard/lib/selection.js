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

/** The content of the dialog for a bulk command; null while it is closed. */
export const asking = signal(/** @type {import("./types").Action | null} */ (null));

export function chooseNone() {
  picked.value = new Set();
}
