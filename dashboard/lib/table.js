/**
 * Which displays the table shows. Their order is frozen after each sort or filter: rows do not run away
 * under the pointer. `changed` counts what a new sort would move.
 */
import { computed, effect, signal, untracked } from "../vendor/signals.js";
import { clients, places, total, version } from "./fleet.js";
import { filtered, kept, parts } from "./filter.js";
import { countChanged, freeze, sort, sortingOf } from "./sorting.js";
import { isUnwell } from "./unwell.js";
import { param } from "./url.js";
import { finderWords } from "./words/first.js";

const word = param("sort");

export const sorting = computed(() => sortingOf(word.value || "status"));

let sortedBefore = /** @type {string[]} */ ([]);

/** All displays, sorted from the last order: few have moved since, so that few names are compared. */
const ordered = computed(() => {
  void version.value;
  const known = new Set(sortedBefore);
  const uuids = [...sortedBefore, ...[...clients.keys()].filter((uuid) => !known.has(uuid))];
  const all = uuids.map((uuid) => clients.get(uuid)).filter((client) => client !== undefined);
  sortedBefore = sort(all, sorting.value).map((client) => client.uuid);
  return all;
});

/** Whether a large fleet has displays that match the filters and were not asked for yet. */
export const more = signal(false);

/** The displays that match the filters; of a large fleet without a filter those that are unwell. */
const fresh = computed(() => ordered.value.filter(places.value && !filtered.value ? isUnwell : kept));

const frozen = signal(freeze([], sorting.value));

/** Sort again, now. */
export function resort() {
  frozen.value = freeze(fresh.value, sorting.value);
}

effect(() => {
  void [parts.value, sorting.value];
  untracked(resort);
});

/** How many displays would enter, leave or move. */
export const changed = computed(() =>
  countChanged(frozen.value, fresh.value, sorting.value, (uuid) => clients.has(uuid)),
);

// The first answer fills an empty table, in which no row can move.
effect(() => {
  if (version.value > 0 && untracked(() => frozen.value.uuids.length === 0)) untracked(resort);
});

/** The rows in their frozen order, without deleted displays. */
export const rows = computed(() => {
  void version.value;
  return frozen.value.uuids.filter((uuid) => clients.has(uuid));
});

export function foundWords() {
  const n = rows.value.length;
  return finderWords.found({ n, all_n: total.value, every: n === total.value, more: more.value });
}
