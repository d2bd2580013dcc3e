/** The names of all sites, in order. */
import { clients, places } from "./fleet.js";

export function siteNames() {
  const names = places.value ? [...places.value.keys()] : [...clients.values()].map(({ site }) => site);
  return [...new Set(names)]
    .filter((name) => !!name)
    .map(String)
    .sort();
}
