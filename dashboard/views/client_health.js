/** What one display last said of its machine, each figure against its limit, and how it went. */
import { h } from "../vendor/preact.js";
import { classes, html } from "../lib/html.js";
import { limitText, valueWords } from "../lib/limits.js";
import { listed } from "../lib/lists.js";
import { actionWords, commonWords } from "../lib/words/first.js";
import { unitWords } from "../lib/words/units.js";
import { healthWords } from "../lib/words/health.js";
import { limitNames, limitWords } from "../lib/words/limits.js";
import { logWords } from "../lib/words/logs.js";
import { HealthOverTime } from "./health_history.js";
import { Age, Time } from "./parts.js";

/** @typedef {import("../lib/types").Client} Client */

/** @typedef {import("../lib/openapi").LimitedValue} Limited */
/** @typedef {import("../lib/openapi").HealthLimit} Limit */

/** The processor has no limit that anybody is told of. @type {Omit<import("./health_history.js").Gauge, "name">} */
const PROCESSOR = { key: "cpu_percent", unit: "%", most: 100, limit: 90 };

/**
 * The measures of the history that have a limit.
 * @type {Partial<Record<Limit, Pick<import("./health_history.js").Gauge, "key" | "unit" | "most">>>}
 */
const MEASURES = {
  memory: { key: "memory_percent", unit: "%", most: 100 },
  disk: { key: "disk_percent", unit: "%", most: 100 },
  heat: { key: "temperature_celsius", unit: "°C", most: 110 },
};

/** The end of each bar; the others end at twice their limit. @type {Partial<Record<Limit, number>>} */
const ENDS = { disk: 100, memory: 100, heat: 110, certificate: 90, voltage: 1, read_only: 1, refused: 1 };

/** @param {Limited[]} limits @returns {import("./health_history.js").Gauge[]} */
const gaugesOf = (limits) => [
  { ...PROCESSOR, name: healthWords.cpu },
  ...limits.flatMap(({ limit, at }) => {
    const measure = MEASURES[limit];
    return measure ? [{ ...measure, name: limitNames[limit], limit: at }] : [];
  }),
];

/** Whether the value is at its limit or worse. @param {Limited} of */
const isOver = ({ limit, value, at }) =>
  value !== null && (limit === "certificate" ? value <= at : Math.abs(value) >= at);

/** @param {{value: number, most: number, at: number, over: boolean}} props */
function Bar({ value, most, at, over }) {
  return html`<svg viewBox="0 0 100 1" preserveAspectRatio="none">
    <rect class="gauge-all" width="100" height="1" />
    <rect class=${over ? "gauge-over" : "gauge-fill"} width=${(100 * Math.min(most, Math.max(0, value))) / most}
      height="1" />
    <rect class="gauge-limit" x=${Math.min(99.4, (100 * at) / most)} width="0.6" height="1" /></svg>`;
}

/** @param {{name: string, text: string, over: boolean, more: any, bar: any}} props */
function Gauge({ name, text, over, more, bar }) {
  return html`<div class="gauge">
    <dt>${name}</dt>
    <dd class=${classes("figure", over && "over")}>${text}${more && html` <span class="quiet">${more}</span>`}</dd>
    <dd class="gauge-bar" aria-hidden="true">${bar}</dd>
  </div>`;
}

/** @param {{value: number | null}} props */
function Processor({ value }) {
  const { most, limit } = PROCESSOR;
  const over = value !== null && value > limit;
  return h(Gauge, {
    name: healthWords.cpu,
    over,
    text: value === null ? commonWords.notReported : `${Math.round(value)}${unitWords.space}%`,
    more: over && healthWords.limit({ value: `${limit}${unitWords.space}%` }),
    bar: value !== null && h(Bar, { value, most, at: limit, over }),
  });
}

/** A value with its limit; `since`: when it passed the limit, if that is a trouble. @param {{of: Limited, since: string | undefined}} props */
function LimitGauge({ of, since }) {
  const { limit, value, at } = of;
  const over = isOver(of);
  const most = ENDS[limit] ?? 2 * at;
  const passed = since && html`${limitWords.passed} ${h(Time, { at: since })}`;
  const left = passed && !over && limitWords.stays;
  return h(Gauge, {
    name: limitNames[limit] ?? limit,
    over,
    text: value === null ? commonWords.notReported : valueWords(limit, value),
    more: html`${[limitText(limit, at), passed, left].filter(Boolean).map((one, i) => [i > 0 && " · ", one])}`,
    bar:
      value !== null &&
      h(Bar, { value: limit === "clock" ? Math.abs(value) : value, most: Math.max(most, at), at, over }),
  });
}

/** @param {{client: Client}} props */
function Machine({ client }) {
  const facts = /** @type {[string, any][]} */ ([
    [healthWords.os, client.os ?? commonWords.notReported],
    [
      healthWords.logLevel,
      client.log_level ? (logWords.level[client.log_level] ?? client.log_level) : commonWords.notReported,
    ],
    [
      healthWords.interval,
      client.interval_seconds ? healthWords.seconds({ n: client.interval_seconds }) : commonWords.notReported,
    ],
    [
      healthWords.capabilities,
      (client.capabilities && listed(client.capabilities.map((action) => actionWords[action] ?? action))) ??
        healthWords.all,
    ],
    [healthWords.boot, html`<code>${client.boot_id ?? commonWords.notReported}</code>`],
    [healthWords.player, html`<code>${client.app_instance ?? commonWords.notReported}</code>`],
  ]);
  return html`<section aria-label=${healthWords.machine}><h3>${healthWords.machine}</h3>
    <dl class="facts">${facts.map(
      ([name, value]) => html`<div class="fact" key=${name}><dt>${name}</dt><dd>${value}
        </dd></div>`,
    )}</dl></section>`;
}

/** @param {{client: Client}} props */
export function ClientHealth({ client }) {
  const { health } = client;
  return html`<div class="health">
    ${
      health
        ? html`<p class="quiet">
            ${healthWords.at} ${h(Time, { at: health.received_at })} · ${h(Age, { at: health.received_at })}</p>
          <dl class="gauges">
            ${h(Processor, { value: health.cpu_percent })}
            ${health.limits.map((of) =>
              h(LimitGauge, { key: of.limit, of, since: client.limits.find((one) => one.limit === of.limit)?.since }),
            )}</dl>
          ${health.refused.map(
            ({ what, reason }) => html`<p class="note" key=${what}>
              ${limitWords.refused} ${limitWords.orders[what] ?? what}: ${limitWords.reasons[reason] ?? reason}</p>`,
          )}`
        : html`<p class="note">${healthWords.none}</p>`
    }
    ${health && h(HealthOverTime, { uuid: client.uuid, gauges: gaugesOf(health.limits) })}
    ${h(Machine, { client })}
  </div>`;
}
