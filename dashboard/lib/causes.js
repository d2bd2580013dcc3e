/** The causes that are shown first: open incidents, each with the rows of its displays. */
import { computed } from "../vendor/signals.js";
import { filtered, kept } from "./filter.js";
import { clients, overview, version } from "./fleet.js";
import { isUnwell } from "./unwell.js";

/** @typedef {import("./types").Client} Client */
/** @typedef {import("./openapi").StandingIncident} StandingIncident */
/** @typedef {{incident: StandingIncident, rows: Client[]}} Cause rows: the displays that are unwell in it */

/** @type {import("../vendor/signals.js").ReadonlySignal<Cause[]>} */
export const causes = computed(() => {
  void version.value;
  const incidents = overview.value?.incidents ?? [];
  if (!incidents.length) return [];
  /** @type {Map<number, Client[]>} */
  const members = new Map(incidents.map(({ id }) => [id, []]));
  for (const client of clients.values()) if (client.incident_id) members.get(client.incident_id)?.push(client);
  return incidents
    .map((incident) => ({ incident, rows: members.get(incident.id) ?? [] }))
    .filter(({ rows }) => (filtered.value ? rows.some(kept) : rows.length > 0)); // without: all are back
});

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
