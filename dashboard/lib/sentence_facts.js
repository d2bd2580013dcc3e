/** What the facts of the server's sentences mean, for the words of each language. */

/** @typedef {import("./sentences.js").Sentence} Sentence */
/** @typedef {Record<string, (facts: any) => string>} SentenceWords by code */

/**
 * These sentences one after the other; null when one of them is not known here.
 * @param {SentenceWords} words @param {readonly Sentence[]} sentences @param {string} space between them
 */
export function joined(words, sentences, space) {
  try {
    const parts = sentences.map(({ code, params }) => words[code]?.(params));
    return parts.includes(undefined) ? null : parts.join(space);
  } catch {
    return null; // facts that only a newer server knows
  }
}

/** The word for a fact. Throws for a fact that only a newer server knows. @param {Record<string, string>} words @param {string} fact */
export function word(words, fact) {
  const found = words[fact];
  if (found === undefined) throw new RangeError(fact);
  return found;
}

/** A duration in its unit, rounded down. @param {number} seconds @returns {[number, "second" | "minute" | "hour" | "day"]} */
export function unitOf(seconds) {
  if (seconds >= 2 * 86_400) return [Math.floor(seconds / 86_400), "day"];
  if (seconds >= 2 * 3_600) return [Math.floor(seconds / 3_600), "hour"];
  return seconds >= 120 ? [Math.floor(seconds / 60), "minute"] : [seconds, "second"];
}

/** How fast displays failed; null: at once. @param {number} seconds @returns {ReturnType<typeof unitOf> | null} */
export function unitWithin(seconds) {
  if (seconds < 1) return null;
  return seconds >= 7200 ? [Math.floor(seconds / 3600), "hour"] : unitOf(seconds);
}

/** Most first. @param {Record<string, number>} refusals how many for each reason */
export const byCount = (refusals) => Object.entries(refusals).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));

/**
 * A day and time of a zone. A zone that the browser does not know is shown in UTC.
 * @param {string} locale @param {string} zone
 */
export function formatIn(locale, zone) {
  const options = /** @type {const} */ ({
    weekday: "long",
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  try {
    return { zone, format: new Intl.DateTimeFormat(locale, { ...options, timeZone: zone }) };
  } catch {
    return { zone: "UTC", format: new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" }) };
  }
}

// --- displays that failed together ---

/** @typedef {{kind: string, key: string, members: number, size: number}} Place */
/**
 * @typedef {object} Failed
 * @property {string} kind
 * @property {string} key
 * @property {number | null} size
 * @property {Record<string, number>} symptoms how many displays failed in each way
 * @property {number} seconds
 * @property {number} sites
 * @property {string | null} unit
 * @property {Place | null} place
 * @property {string | null} site
 * @property {boolean} elsewhere
 */

/** @param {Failed} facts */
export const membersOf = ({ symptoms }) => Object.values(symptoms).reduce((sum, n) => sum + n, 0);

/** Whether it is about a site, not a part of the network. @param {Failed} facts */
export const isOfSite = ({ kind, place }) => (place?.kind ?? kind) === "site";

/**
 * The likely cause; `time`: nothing else is shared.
 * @param {Failed} facts @returns {"screens" | "content" | "shared" | "time" | "network" | "short_break"}
 */
export function likelyCause(facts) {
  const { kind, symptoms, unit, place } = facts;
  const ways = Object.keys(symptoms);
  if (ways.length === 1 && ways[0] === "screen_failed" && (unit === "disconnected" || unit === "off")) return "screens";
  if (2 * ((symptoms["silent"] ?? 0) + (symptoms["disconnected"] ?? 0)) < membersOf(facts)) return "content";
  if (!place && kind === "cluster") return facts.elsewhere ? "shared" : "time";
  return "silent" in symptoms ? "network" : "short_break";
}
