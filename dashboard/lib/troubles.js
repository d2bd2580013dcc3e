/** How much is wrong on the whole: what the browser's tab and the banners say. */
import { computed } from "../vendor/signals.js";
import { clients, overview, version } from "./fleet.js";
import { isUnwell } from "./unwell.js";

/** @typedef {import("./types").Client} Client */

/** Whether a card tells of this display. @param {Client} client */
export const hasCard = (client) => overview.value?.incidents.some(({ id }) => id === client.incident_id) ?? false;

/** How many things are wrong: the causes, and the unwell displays that have no card. */
export const troubles = computed(() => {
  void version.value;
  if (!overview.value) return 0;
  if (overview.value.bridge.state === "silent") return 1; // of the displays nothing is known
  const cards = overview.value.incidents.filter(({ unwell }) => unwell > 0).length;
  return cards + [...clients.values()].filter((client) => isUnwell(client) && !hasCard(client)).length;
});

/** Whether each open breaker is one of a site that has a card: the card says so. */
export const breakerHasCards = computed(() => {
  const { breaker, incidents = [] } = overview.value ?? {};
  const sites = new Set(incidents.map(({ kind, key }) => (kind === "site" ? key : null)));
  return breaker !== undefined && breaker.sites.every((site) => site !== null && sites.has(site));
});
