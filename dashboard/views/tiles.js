/** One tile per state: its count, and a toggle that shows only those displays. */
import { h } from "../vendor/preact.js";
import { keptInAnyState, narrowed } from "../lib/filter.js";
import { clients, overview, places, version } from "../lib/fleet.js";
import { number } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { more } from "../lib/table.js";
import { go, param } from "../lib/url.js";
import { statusMeanings, statusWords, tableWords, tileWords } from "../lib/words/first.js";
import { Glyph } from "./parts.js";

/** @typedef {import("../lib/types").Status} Status */

/** Late displays run: the running tile counts them and names them apart. @type {Status[]} */
const TILES = ["running", "crashed", "stale", "starting", "stopped", "unknown"];
const status = param("status");

/** @param {string} word */
const toggle = (word) => go({ status: status.value === word ? null : word });

/** @param {{word: string, count: number, late: number}} props */
function Tile({ word, count, late }) {
  const on = status.value === word;
  const label = statusWords[word] ?? word;
  return html`<div class=${classes("tile", `status-${word}`, on && "on", count === 0 && "zero")}>
    <button class="tile-main" aria-pressed=${on} title=${`${statusMeanings[word]} ${tileWords.hint({ word: label, on })}.`}
      onClick=${() => toggle(word)}>
      <span class="tile-count">${number(count)}</span>
      <span class="tile-word">${h(Glyph, { shape: word })}${label}</span>
    </button>
    ${
      late > 0 &&
      html`<button class=${classes("tile-late", "status-late", status.value === "late" && "on")}
        aria-pressed=${status.value === "late"}
        title=${statusMeanings.late} onClick=${() => toggle("late")}>${h(Glyph, { shape: "late" })}
        ${tileWords.late({ n: late })}
      </button>`
    }
  </div>`;
}

/** The counts of the displays that the other filters keep. */
function countKept() {
  void version.value;
  const counts = /** @type {Record<Status | "screen_failed" | "limit_passed", number>} */ (
    Object.fromEntries([...TILES, "late", "screen_failed", "limit_passed"].map((word) => [word, 0]))
  );
  for (const client of clients.values()) {
    if (!keptInAnyState(client)) continue;
    counts[client.status]++;
    if (client.screen_failed_since) counts.screen_failed++;
    if (client.limits?.length > 0) counts.limit_passed++;
  }
  return counts;
}

export function Tiles() {
  const isKnown = !places.value || !(more.value || status.value);
  const counts = narrowed.value ? isKnown && countKept() : overview.value?.counts;
  if (!counts) return null;
  /** @param {Status} word */
  const countsOf = (word) =>
    word === "running" ? { count: counts.running + counts.late, late: counts.late } : { count: counts[word], late: 0 };
  return html`<div class="tiles" role="group" aria-label=${tableWords.status}>
    ${TILES.map((word) => h(Tile, { key: word, word, ...countsOf(word) }))}
    ${counts.screen_failed > 0 && h(Tile, { word: "screen_failed", count: counts.screen_failed, late: 0 })}
    ${counts.limit_passed > 0 && h(Tile, { word: "limit_passed", count: counts.limit_passed, late: 0 })}
  </div>`;
}
