/**
 * Recovery's state may end at a known time, without a change that a delta would bring. The page asks separately for the
 * few clients whose time has passed.
 */
import { getClient } from "./api/fleet.js";

/** @typedef {import("./types").Client} Client */

const EVERY = 20_000; // milliseconds
const MOST = 3; // clients with each poll

/** @type {Map<string, number>} when each client was last asked for, in `performance.now()` */
const askedAt = new Map();

/** @param {Client[]} over @param {(uuid: string, changes: Partial<Client>) => void} change @param {AbortSignal} abort */
export async function renewRecovery(over, change, abort) {
  const due = over.filter(({ uuid }) => performance.now() - (askedAt.get(uuid) ?? -Infinity) > EVERY);
  for (const { uuid } of due.slice(0, MOST)) {
    askedAt.set(uuid, performance.now());
    try {
      const { recovery, lockout_until } = await getClient(uuid, abort);
      change(uuid, { recovery, lockout_until });
    } catch {
      return; // a client deleted meanwhile; the next delta says so
    }
  }
}
