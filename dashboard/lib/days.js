/** The last day of the displays whose rows are in the document. */
import { lastDay } from "./api/availability.js";
import { inSight } from "./in_sight.js";

/** @typedef {import("./openapi").DayOfClient["states"]} States */

const KEPT = 5 * 60_000; // milliseconds; a day is half hours

export const days = inSight(async (uuids, abort) => {
  const { items } = await lastDay(uuids, abort);
  return items.map(({ uuid, states }) => /** @type {[string, States]} */ ([uuid, states]));
}, KEPT);
