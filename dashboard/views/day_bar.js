/** States over time as a small bar; the last 24 hours of a display as a cell for each hour. */
import { listed } from "../lib/lists.js";
import { h } from "../vendor/preact.js";
import { useEffect } from "../vendor/hooks.js";
import { days } from "../lib/days.js";
import { html } from "../lib/html.js";
import { dayWords } from "../lib/words/day.js";
import { statusWords } from "../lib/words/first.js";

const HEIGHT = 16;
/** Trouble towers, so that colour is not the only sign; closed time is a line. @type {Record<string, number>} */
const HEIGHTS = { closed: 1, unknown: 3, stopped: 4, running: 6, starting: 8, late: 9, stale: 13, crashed: 16 };

/** The places of each state. @param {import("../lib/days.js").States} states */
function placesOf(states) {
  /** @type {Map<string, number[]>} */
  const places = new Map();
  states.forEach((state, i) => {
    const word = state ?? "closed";
    places.set(word, [...(places.get(word) ?? []), i]);
  });
  return [...places];
}

/** @param {string} word @param {number[]} places */
function path(word, places) {
  const height = HEIGHTS[word] ?? HEIGHTS["unknown"] ?? 0;
  return html`<path key=${word} class=${`strip-${word}`}
    d=${places.map((x) => `M${x} ${HEIGHT - height}h1v${height}h-1z`).join("")} />`;
}

/**
 * States in equal times as a bar. said: their beginning in words; name: a class; width: how many states have room
 * @param {{states: import("../lib/days.js").States, said: (parts: string) => string, name: string, width?: number}} props
 */
export function StateBar({ states, said, name, width = states.length }) {
  const places = placesOf(states);
  const text = said(
    listed(places.map(([word, { length: n }]) => dayWords.part({ n, word: statusWords[word] ?? dayWords.closed }))),
  );
  return html`<svg class=${name} viewBox=${`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img"
    aria-label=${text}><title>${text}</title>${places.map(([word, at]) => path(word, at))}</svg>`;
}

const WORST = Object.keys(HEIGHTS);

/** @param {{states: import("../lib/days.js").States}} props states of half hours */
function Cells({ states }) {
  const parts = placesOf(states).map(([word, { length: n }]) =>
    dayWords.part({ n, word: statusWords[word] ?? dayWords.closed }),
  );
  const text = dayWords.halfHours({ parts: listed(parts) });
  const ranks = states.map((state) => WORST.indexOf(state ?? "closed"));
  const hours = Array.from({ length: Math.ceil(ranks.length / 2) }, (_, i) =>
    Math.max(...ranks.slice(2 * i, 2 * i + 2)),
  );
  return html`<svg class="day" viewBox="0 0 144 18" preserveAspectRatio="none" role="img"
    aria-label=${text}><title>${text}</title>${hours.map(
      (rank, i) => html`<rect key=${i} class=${`strip-${WORST[rank]}`} x=${6 * i} width="4" height="18" rx="1" />`,
    )}</svg>`;
}

/** @param {{uuid: string}} props */
export function DayBar({ uuid }) {
  void days.answers.value;
  useEffect(() => days.show(uuid), [uuid]);
  const states = days.of(uuid);
  return states?.length ? h(Cells, { states }) : null;
}
