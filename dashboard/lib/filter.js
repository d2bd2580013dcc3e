/** The filters of the fleet page. They stand in the address and narrow every part of the page. */
import { computed } from "../vendor/signals.js";
import { matches, searched } from "./match.js";
import { unsteady } from "./unsteady.js";
import { go, param } from "./url.js";

const status = param("status");
const text = param("q");
const site = param("site");
const nosite = param("nosite");
const tag = param("tag");
const incident = param("incident");

/** The parts of the filter that are on: key of the address and value. */
export const parts = computed(() =>
  Object.entries({
    status: status.value,
    q: text.value.trim(),
    site: site.value,
    nosite: nosite.value,
    tag: tag.value,
    incident: incident.value,
  }).filter(([, value]) => value),
);

/** Whether any filter is on. */
export const filtered = computed(() => parts.value.length > 0);

/** Whether a filter is on but for the one by status. */
export const narrowed = computed(() => parts.value.some(([key]) => key !== "status"));

/** Whether a filter names a place: a site, a tag or an incident. What is listed then is often meant as a whole. */
export const namesAPlace = computed(() => parts.value.some(([key]) => key !== "status" && key !== "q"));

const place = computed(() => ({
  words: searched(text.value),
  site: site.value,
  nosite: nosite.value !== "",
  tag: tag.value,
  incident: incident.value,
}));

/** @type {import("../vendor/signals.js").ReadonlySignal<import("./types").Filter>} */
export const filter = computed(() => ({
  ...place.value,
  status: status.value,
  ...(status.value === "unsteady" && { unsteady: unsteady.value }),
}));

/** Whether the filter keeps a display. @param {import("./types").Client} client */
export const kept = (client) => matches(client, filter.value);

/** Whether it keeps a display, whatever its status. @param {import("./types").Client} client */
export const keptInAnyState = (client) => matches(client, place.value);

/** Switch all filters off. */
export const clear = () => go({ status: null, q: null, site: null, nosite: null, tag: null, incident: null });
