/** The fleet by site: how many displays each has, and what is wrong with them. */
import { language } from "./language.js";
import { quietWords } from "./quiet.js";
import { isUnwell } from "./unwell.js";

/** @typedef {import("./types").Client} Client */
/** @typedef {{dot: string, count: number}} Dots so many displays in one state */
/** @typedef {{word: string, title: string}} Quiet */
/** @typedef {{site: string | null, total: number, unwell: number, how: string, dots: Dots[], quiet: Quiet | null}} Shop */
// `how`: what is wrong with its displays, "bad" where they differ; `quiet`: it is closed, or held

/** The states of dots, worst first. "bad": its service or its screen fails. */
const UNWELL = ["crashed", "stale", "bad"];
const ORDER = [...UNWELL, "late", "starting", "stopped", "unknown", "running"];
const names = new Intl.Collator(language, { numeric: true, sensitivity: "base" });

/** @param {Client} client */
function dotOf(client) {
  const { status } = client;
  if (status === "crashed" || status === "stale") return status;
  return isUnwell(client) ? "bad" : status;
}

/**
 * The sites, worst first by share and number of unwell displays; closed ones last. null stands for no site.
 * @param {Iterable<Client>} clients @param {Map<string | null, import("./types").Place> | null} [places] of a large fleet
 */
export function shopsOf(clients, places) {
  if (places) return inOrder([...places].map(([site, { states }]) => [site, new Map(Object.entries(states))]));
  /** @type {Map<string | null, Map<string, number>>} */
  const found = new Map();
  for (const client of clients) {
    const site = client.site || null;
    const counts = found.get(site) ?? new Map();
    found.set(site, counts);
    const dot = dotOf(client);
    counts.set(dot, (counts.get(dot) ?? 0) + 1);
  }
  return inOrder([...found]);
}

/** @param {[string | null, Map<string, number>][]} found of each site how many are in each state */
function inOrder(found) {
  const shops = found.map(([site, counts]) => {
    const dots = ORDER.map((dot) => ({ dot, count: counts.get(dot) ?? 0 })).filter(({ count }) => count > 0);
    const total = dots.reduce((sum, { count }) => sum + count, 0);
    const unwell = UNWELL.reduce((sum, dot) => sum + (counts.get(dot) ?? 0), 0);
    const [how, other] = UNWELL.filter((dot) => counts.has(dot));
    const quiet = (site !== null && quietWords({ uuid: "", site })) || null;
    return { site, total, unwell, how: other ? "bad" : (how ?? ""), dots, quiet };
  });
  /** @param {Shop} shop */
  const weight = ({ unwell, total }) => (unwell * unwell) / total;
  return shops.sort(
    (a, b) =>
      Number(a.quiet !== null) - Number(b.quiet !== null) ||
      weight(b) - weight(a) ||
      Number(a.site === null) - Number(b.site === null) ||
      names.compare(a.site ?? "", b.site ?? ""),
  );
}

/**
 * At most so many dots, worst first, each as its place in a grid.
 * @param {Dots[]} dots @param {number} most @param {number} inRow
 * @returns {{dot: string, places: [number, number][]}[]}
 */
export function dotGrid(dots, most, inRow) {
  let next = 0;
  return dots
    .map(({ dot, count }) => {
      const number = Math.min(count, most - next);
      /** @type {[number, number][]} */
      const places = Array.from({ length: number }, (_, i) => [(next + i) % inRow, Math.floor((next + i) / inRow)]);
      next += number;
      return { dot, places };
    })
    .filter(({ places }) => places.length > 0);
}
