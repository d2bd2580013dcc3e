/** Small pieces that several views use. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { now } from "../lib/clock.js";
import { ago, exact, full, nameAndSite, nameOf } from "../lib/format.js";
import { html } from "../lib/html.js";
import { openDisplay } from "../lib/url.js";
import { commonWords, statusWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";

/** One shape per state, so that colour is never the only sign. Drawn in a 16 × 16 box. */
const SHAPES = /** @type {Record<string, string>} */ ({
  running: "M3 8.5 6.5 12 13 4.5",
  late: "M8 4v4.5l3 1.8",
  stale: "M3 3l10 10M4 9a6 6 0 0 1 3-2.6M12 9a6 6 0 0 0-2-2.1M8 12.6v.1",
  crashed: "M4 4l8 8M12 4l-8 8",
  starting: "M13 8a5 5 0 1 1-2-4M11 1v3.2H8",
  stopped: "M4.5 4.5h7v7h-7z",
  unknown: "M5.6 6a2.4 2.4 0 1 1 3.5 2.1c-.7.4-1.1.8-1.1 1.6M8 12.6v.1",
  warning: "M8 2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1",
  log: "M3 4h10M3 8h10M3 12h6",
  command: "M3 4.5 6.5 8 3 11.5M8.5 12h4.5",
  recovery: "M2.5 8h3l1.5-4 2.5 8 1.5-4h2.5",
  registered: "M8 3v10M3 8h10",
  audit: "M3.5 12.5l1-3 6-6 2 2-6 6z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  close: "M4 4l8 8M12 4l-8 8",
  file: "M4 1.5h5.5L13 5v9.5H4zM9 1.5V5.5h4",
});

/** @param {{shape: string}} props */
export function Glyph({ shape }) {
  return html`<svg class=${`glyph glyph-${shape}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${shape === "late" && html`<circle cx="8" cy="8" r="6" />`}
    <path d=${SHAPES[shape] ?? SHAPES["warning"]} />
  </svg>`;
}

/** An exact time with the whole date as its title. @param {{at: string | null | undefined}} props */
export function Time({ at }) {
  if (!at) return html`<span class="quiet">${commonWords.never}</span>`;
  return html`<time datetime=${at} title=${full(at)}>${exact(at)}</time>`;
}

/** An age that ticks, with the whole date as its title. @param {{at: string | null | undefined}} props */
export function Age({ at }) {
  if (!at) return html`<span class="quiet">${commonWords.never}</span>`;
  return html`<time datetime=${at} title=${full(at)}>${ago(at, now.value)}</time>`;
}

/** Glyph, word and colour of a shown state. @param {{status: string}} props */
export function StatusBadge({ status }) {
  return html`<span class=${`badge status-${status}`}>${h(Glyph, { shape: status })}${statusWords[status] ?? status}
  </span>`;
}

/**
 * Says that something is loading, but only after a second: a quick answer shows no flicker.
 * @param {{rows?: number}} props
 */
export function Loading({ rows = 3 }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 1000);
    return () => clearTimeout(timer);
  }, []);
  if (!slow) return html`<div class="loading" aria-busy="true"></div>`;
  const bars = Array.from({ length: rows }, (_, i) => html`<span class="skeleton" key=${i}></span>`);
  return html`<div class="loading" aria-busy="true"><span class="visually-hidden" role="status">${commonWords.loading}
    </span>${bars}</div>`;
}

/**
 * What could not be loaded, why, and the way to try again.
 * @param {{text: string, why?: string, retry?: () => void}} props retry: where it is not tried again by itself
 */
export function LoadFailed({ text, why, retry }) {
  return html`<p class="note-error" role="alert">${h(Glyph, { shape: "warning" })}
    <span>${text} ${why ?? (retry ? "" : commonWords.retrying)}</span>
    ${retry && html`<button class="link" onClick=${retry}>${commonWords.retry}</button>`}</p>`;
}

/** Saves what is listed as CSV, or says why not. @param {{save: () => Promise<void>, title: string}} props */
export function ExportButton({ save, title }) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  const go = async () => {
    setBusy(true);
    await save().then(
      () => setFailed(""),
      (error) => setFailed(wordsOf(error)),
    );
    setBusy(false);
  };
  return html`<button class="link" title=${title} disabled=${busy} onClick=${go}>${commonWords.csv}</button>
    ${failed && html`<span class="cause" role="alert">${failed}</span>`}`;
}

/** A display's name, which opens its panel. Others may have the same name: its site is said too.
 * @param {{client: {uuid: string, name?: string, hostname?: string | null, site?: string | null}}} props
 */
export function NameButton({ client }) {
  return html`<button class="link strong" aria-label=${nameAndSite(client)} onClick=${() => openDisplay(client.uuid)}>
    ${nameOf(client)}</button>`;
}
