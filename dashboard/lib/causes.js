/** The causes that are shown first: open incidents, each with the rows of its displays. */
import { computed } from "../vendor/signals.js";
import { filtered, kept } from "./filter.js";
import { clients, overview, places, version } from "./fleet.js";

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
    .filter(({ incident, rows }) =>
      filtered.value ? rows.some(kept) : rows.length > 0 || (places.value && incident.unwell > 0),
    ); // without: all are back
});
