/** How many displays a quiet time is about; null: of a large fleet the page does not know who has a tag. */
import { clients, places, total } from "./fleet.js";
import { coveredBy } from "./quiet_form.js";

/** @param {Parameters<typeof coveredBy>[0]} draft @returns {number | null} */
export function covered(draft) {
  if (!places.value || draft.scope === "clients") return coveredBy(draft, clients.values());
  if (draft.scope === "fleet") return total.value;
  return draft.scope === "site" ? (places.value.get(draft.site.trim())?.total ?? 0) : null;
}
