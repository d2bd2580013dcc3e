/** The newest picture of each display that is on the wall of pictures. */
import { newestScreenshots } from "./api/screenshots.js";
import { inSight } from "./in_sight.js";

/** @typedef {import("./openapi").Screenshot} Screenshot */

const KEPT = 30_000; // milliseconds

export const pictures = inSight(async (uuids, abort) => {
  const { items } = await newestScreenshots(uuids, abort);
  return items.map((one) => /** @type {[string, Screenshot]} */ ([one.client_uuid, one]));
}, KEPT);
