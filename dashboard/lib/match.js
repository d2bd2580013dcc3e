/** Whether a display matches the filters of the page. */
import { isMute, serviceFails } from "./unwell.js";
import { statusWords, tableWords } from "./words/first.js";

/** @typedef {import("./types").Client} Client */
/** @typedef {import("./types").Filter} Filter */

/** Text without capitals and accents. @param {string} text */
export const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** A passed limit. @param {{limit: string, value: number}} of */
export const passedWords = ({ limit, value }) =>
  tableWords.passed({ limit: limit === "certificate" && value <= 0 ? "ended" : limit, n: Math.floor(value) });

/** @type {WeakMap<Client, string>} a row is replaced when it changes */
const texts = new WeakMap();

/** What a search reads of a display. @param {Client} client */
function textOf(client) {
  const known = texts.get(client);
  if (known !== undefined) return known;
  const { name, uuid, site, hostname, ip, app_version, tags, status, service_failed_unit } = client;
  const wrong = [
    serviceFails(client) && tableWords.failed,
    client.screen_failed_since && tableWords.screen({ how: client.screen_health }),
    isMute(client) && tableWords.mute,
    ...(client.limits ?? []).map(passedWords),
  ];
  const all = [name, uuid, site, hostname, ip, app_version, ...(tags ?? []), status, statusWords[status], ...wrong];
  const text = fold([...all, service_failed_unit].filter(Boolean).join("\n"));
  texts.set(client, text);
  return text;
}

/** @param {Client} client @param {Filter} filter */
function matchesStatus(client, { status, unsteady }) {
  if (status === "screen_failed") return Boolean(client.screen_failed_since);
  if (status === "limit_passed") return Boolean(client.limits?.length);
  if (status === "unsteady") return unsteady?.has(client.uuid) ?? false;
  return !status || client.status === status || (status === "running" && client.status === "late");
}

/** @param {Client} client @param {Filter} filter */
function matchesPlace(client, { site, nosite, tag, incident }) {
  return (
    (!site || client.site === site) &&
    (!nosite || !client.site) &&
    (!tag || (client.tags ?? []).includes(tag)) &&
    (!incident || String(client.incident_id) === incident)
  );
}

/** The words of a search. @param {string} text */
export const searched = (text) => fold(text).split(/\s+/).filter(Boolean);

/** Whether all parts of the filter hold. @param {Client} client @param {Filter} filter */
export function matches(client, filter) {
  if (!matchesStatus(client, filter) || !matchesPlace(client, filter)) return false;
  return !filter.words?.length || filter.words.every((word) => textOf(client).includes(word));
}
