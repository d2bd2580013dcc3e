/** How a display's machine went: a line for each measure against its limit, broken where nothing was reported. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { healthHistoryOf } from "../lib/api/history.js";
import { classes, html } from "../lib/html.js";
import { duration } from "../lib/measures.js";
import { poll } from "../lib/poll.js";
import { healthHistoryWords } from "../lib/words/health.js";
import { retryingAfter } from "../lib/problems.js";
import { unitWords } from "../lib/words/units.js";
import { LoadFailed, Loading } from "./parts.js";

/** @typedef {import("../lib/openapi").HealthHistory} History */
/** @typedef {import("../lib/openapi").HealthExtremes} Extremes */
/** @typedef {"cpu_percent" | "memory_percent" | "disk_percent" | "temperature_celsius"} Measure */
/** @typedef {{key: Measure, name: string, unit: string, most: number, limit: number}} Gauge */

const PERIOD = 60_000;
const HEIGHT = 100;
const RANGES = /** @type {const} */ ([1, 7]);
const DAY = 86_400_000;
const SAMPLE_SECONDS = 300;
const ALL = /** @type {const} */ (["cpu_percent", "memory_percent", "disk_percent", "temperature_celsius"]);

/**
 * The stretches of points without a gap: where each begins, and its values.
 * @param {(number | null)[]} values
 */
function stretches(values) {
  /** @type {{from: number, values: number[]}[]} */
  const found = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const last = found[found.length - 1];
    if (last && last.from + last.values.length === i) last.values.push(value);
    else found.push({ from: i, values: [value] });
  });
  return found;
}

/** @param {number} value @param {number} most */
const y = (value, most) => Math.round((1 - Math.min(most, Math.max(0, value)) / most) * HEIGHT * 10) / 10;

/**
 * A stretch as the commands of a path; a single sample is as wide as its time.
 * @param {{from: number, values: number[]}} one @param {number} most
 */
function line({ from, values }, most) {
  const points = values.map((value, i) => `${from + i + 0.5} ${y(value, most)}`);
  return values.length === 1 ? `M${from} ${y(values[0] ?? 0, most)}h1` : `M${points.join("L")}`;
}

/** @param {{from: number, values: number[]}} one @param {number} most */
function area(one, most) {
  const end = one.from + one.values.length;
  return one.values.length === 1
    ? `${line(one, most)}V${HEIGHT}h-1z`
    : `${line(one, most)}L${end - 0.5} ${HEIGHT}H${one.from + 0.5}z`;
}

/**
 * What lies above the limit is drawn once more, in the colour of trouble.
 * @param {{gauge: Gauge, values: (number | null)[], text: string}} props
 */
function Line({ gauge, values, text }) {
  const { most } = gauge;
  const width = Math.max(1, values.length);
  const parts = stretches(values);
  const path = parts.map((one) => line(one, most)).join("");
  const limit = y(gauge.limit, most);
  return html`<svg class="spark" viewBox=${`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img"
    aria-label=${text}>
    <path class="spark-area" d=${parts.map((one) => area(one, most)).join("")} />
    <path class="spark-limit" d=${`M0 ${limit}H${width}`} />
    <path class="spark-line" d=${path} />
    <svg aria-hidden="true" width=${width} height=${limit} viewBox=${`0 0 ${width} ${limit}`}
      preserveAspectRatio="none"><path class="spark-line spark-over" d=${path} /></svg>
  </svg>`;
}

/** @param {Extremes | null} one @param {string} unit */
function words(one, unit) {
  if (!one) return healthHistoryWords.notTold;
  const [least = "", most = "", last = ""] = [one.least, one.most, one.last].map((value) =>
    unit === "%" ? `${Math.round(value)}${unitWords.space}%` : `${Math.round(value)}\u00a0${unit}`,
  );
  return least === most ? healthHistoryWords.always({ last }) : healthHistoryWords.words({ least, most, last });
}

/** @param {{gauge: Gauge, history: History, days: number}} props */
function Measured({ gauge, history, days }) {
  const said = history.summary[gauge.key];
  const text = words(said, gauge.unit);
  const values = history.points.map((point) => point[gauge.key]);
  return html`<div class="gauge"><dt>${gauge.name}</dt>
    <dd class=${classes("quiet", "figure", said && said.last > gauge.limit && "over")}>${text}</dd>
    ${
      said &&
      html`<dd class="spark-row">
        ${h(Line, { gauge, values, text: healthHistoryWords.spoken({ name: gauge.name, days_n: days, words: text }) })}</dd>`
    }</div>`;
}

/** @param {{history: History, days: number}} props */
function Notes({ history, days }) {
  const { points, step_seconds: step } = history;
  const silent = points.filter((point) => ALL.every((key) => point[key] === null)).length;
  const gaps =
    2 * silent > points.length
      ? healthHistoryWords.partly({ known: duration((points.length - silent) * step), days_n: days })
      : healthHistoryWords.silent({ time: duration(silent * step) });
  return html`<div class="strip-axis quiet"><span>${healthHistoryWords.ago({ n: days })}</span><span>${healthHistoryWords.now}
      </span></div>
    ${silent > 1 && html`<p class="quiet">${gaps}</p>`}
    ${step > SAMPLE_SECONDS && html`<p class="quiet">${healthHistoryWords.means({ time: duration(step) })}</p>`}`;
}

/** @param {{history: History, days: number, gauges: Gauge[]}} props */
function Lines({ history, days, gauges }) {
  if (gauges.every((gauge) => !history.summary[gauge.key]))
    return html`<p class="quiet">${healthHistoryWords.nothing}</p>`;
  return html`<dl class="gauges">${gauges.map((gauge) => h(Measured, { key: gauge.key, gauge, history, days }))}</dl>
    ${h(Notes, { history, days })}`;
}

/** @param {{uuid: string, gauges: Gauge[]}} props */
export function HealthOverTime({ uuid, gauges }) {
  const [days, setDays] = useState(/** @type {number} */ (RANGES[0]));
  const [history, setHistory] = useState(/** @type {{days: number, found: History} | null} */ (null));
  const [failed, setFailed] = useState("");
  useEffect(() => {
    const look = async (/** @type {AbortSignal} */ abort) => {
      setHistory({ days, found: await healthHistoryOf(uuid, days * DAY, abort) });
      setFailed("");
    };
    return poll(
      look,
      () => PERIOD,
      (error) => setFailed(retryingAfter(error)),
    ).stop;
  }, [uuid, days]);
  return html`<section class="uptime" aria-label=${healthHistoryWords.title}>
    <div class="uptime-head"><h3>${healthHistoryWords.title}</h3>
      <div class="chips" role="group" aria-label=${healthHistoryWords.range}>${RANGES.map(
        (n) =>
          html`<button key=${n} class=${classes("chip", days === n && "on")} aria-pressed=${days === n}
            onClick=${() => setDays(n)}>${healthHistoryWords.days({ n })}</button>`,
      )}</div></div>
    ${!history && (failed ? h(LoadFailed, { text: healthHistoryWords.failed, why: failed }) : h(Loading, { rows: 3 }))}
    ${history && h(Lines, { history: history.found, days: history.days, gauges })}
  </section>`;
}
