/** How much is wrong on the whole: what the browser's tab and the banners say. */
import { computed } from "../vendor/signals.js";
import { clients, overview, places, version } from "./fleet.js";
import { isUnwell } from "./unwell.js";

/** @typedef {import("./types").Client} Client */

/** Whether a card tells of this display. @param {Client} client */
export const hasCard = (client) => overview.value?.incidents.some(({ id }) => id === client.incident_id) ?? false;

/** How many things are wrong: the causes, and the unwell displays that have no card. */
export const troubles = computed(() => {
  void version.value;
  if (!overview.value) return 0;
  if (overview.value.bridge.state === "silent") return 1; // of the displays nothing is known
  const { incidents } = overview.value;
  const cards = incidents.filter(({ unwell }) => unwell > 0).length;
  if (places.value) {
    const unwell = [...places.value.values()].reduce((sum, place) => sum + place.unwell, 0);
    return (
      cards +
      Math.max(
        0,
        incidents.reduce((rest, incident) => rest - incident.unwell, unwell),
      )
    );
  }
  return cards + [...clients.values()].filter((client) => isUnwell(client) && !hasCard(client)).length;
});
