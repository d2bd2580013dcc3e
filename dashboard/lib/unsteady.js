/** Displays that keep losing the broker: uuid -> how often within the last hour. */
import { signal } from "../vendor/signals.js";
import { unsteadyClients } from "./api/fleet.js";
import { poll } from "./poll.js";

/** @type {import("../vendor/signals.js").Signal<Map<string, number>>} */
export const unsteady = signal(new Map());

/** Poll them. Returns a function that stops the polling. */
export function watchUnsteady() {
  const look = async (/** @type {AbortSignal} */ abort) => {
    const { items } = await unsteadyClients(abort);
    unsteady.value = new Map(items.map((one) => [one.uuid, one.losses]));
  };
  return poll(look, () => 30_000).stop;
}
