/** Displays that keep losing the broker, by uuid, with how often within the last hour. */
import { signal } from "../vendor/signals.js";
import { call } from "./api.js";
import { poll } from "./poll.js";

/** @type {import("../vendor/signals.js").Signal<Map<string, number>>} */
export const unsteady = signal(new Map());

/** Ask for them again and again; the answer ends that. */
export function watchUnsteady() {
  const look = async (/** @type {AbortSignal} */ signal) => {
    const { items } = await call("GET", "/api/clients/unsteady", { signal });
    unsteady.value = new Map(items.map((/** @type {{uuid: string, losses: number}} */ one) => [one.uuid, one.losses]));
  };
  return poll(look, () => 30_000).stop;
}
