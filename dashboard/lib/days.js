/**
 * The last day of the displays whose rows are in the document. It is asked for apart from the fleet, and seldom: the
 * overview's answer stays small.
 */
import { signal } from "../vendor/signals.js";
import { lastDay } from "./api/availability.js";
import { poll } from "./poll.js";

/** @typedef {import("./openapi").DayOfClient["states"]} States */

const KEPT = 5 * 60_000; // milliseconds; a day is half hours
const LOOK = 60_000;
const SETTLED = 300; // milliseconds after the last row came into the document
const AT_ONCE = 100;

/** @type {Map<string, {states: States, at: number}>} */
const days = new Map();
/** @type {Set<string>} */
const shown = new Set();
/** How many answers have come. */
export const answers = signal(0);

/** What is known of a display's last day. @param {string} uuid */
export const dayOf = (uuid) => days.get(uuid)?.states;

const due = () => [...shown].filter((uuid) => performance.now() - (days.get(uuid)?.at ?? -Infinity) > KEPT);

/** @param {AbortSignal} abort */
async function round(abort) {
  const uuids = due().slice(0, AT_ONCE);
  if (!uuids.length) return;
  const { items } = await lastDay(uuids, abort);
  const at = performance.now();
  for (const uuid of uuids) days.set(uuid, { states: [], at }); // one that is gone is not asked for again at once
  for (const { uuid, states } of items) days.set(uuid, { states, at });
  answers.value++;
}

let timer = 0;
/** @type {ReturnType<typeof poll> | null} */
let polling = null;

function look() {
  if (polling) polling.now();
  else polling = poll(round, () => (due().length ? 0 : LOOK));
}

/** Show a display's day; returns the way to end that. @param {string} uuid */
export function show(uuid) {
  shown.add(uuid);
  clearTimeout(timer);
  timer = window.setTimeout(look, SETTLED);
  return () => void shown.delete(uuid);
}
