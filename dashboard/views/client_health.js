/** What one display last said of its machine, each figure against its usual limit, and how it went. */
import { h } from "../vendor/preact.js";
import { classes, html } from "../lib/html.js";
import { commonWords } from "../lib/words/common.js";
import { healthWords } from "../lib/words/health.js";
import { actionWords } from "../lib/words/states.js";
import { HealthOverTime } from "./health_history.js";
import { Age, Time } from "./parts.js";

/** @typedef {import("../lib/types").Client} Client */

/**
 * What is measured, the end of its scale and the limit above which it stands out.
 * @type {import("./health_history.js").Gauge[]}
 */
const GAUGES = [
  { key: "cpu_percent", name: healthWords.cpu, unit: "%", most: 100, limit: 90 },
  { key: "memory_percent", name: healthWords.memory, unit: "%", most: 100, limit: 90 },
  { key: "disk_percent", name: healthWords.disk, unit: "%", most: 100, limit: 90 },
  { key: "temperature_celsius", name: healthWords.temperature, unit: "°C", most: 110, limit: 80 },
];

/** @param {{name: string, value: number | null, unit: string, most: number, limit: number}} props */
function Gauge({ name, value, unit, most, limit }) {
  const over = value !== null && value > limit;
  const text = value === null ? commonWords.notReported : `${Math.round(value)} ${unit}`;
  return html`<div class="gauge">
    <dt>${name}</dt>
    <dd class=${classes("figure", over && "over")}>${text}
      ${over && html` <span class="quiet">${healthWords.limit(`${limit} ${unit}`)}</span>`}</dd>
    <dd class="gauge-bar" aria-hidden="true">${
      value !== null &&
      html`<svg viewBox=${`0 0 ${most} 1`} preserveAspectRatio="none">
        <rect class="gauge-all" width=${most} height="1" />
        <rect class=${over ? "gauge-over" : "gauge-fill"} width=${Math.min(most, value)} height="1" />
        <rect class="gauge-limit" x=${limit} width="0.6" height="1" /></svg>`
    }</dd>
  </div>`;
}

/** @param {{client: Client}} props */
function Machine({ client }) {
  const facts = /** @type {[string, any][]} */ ([
    [healthWords.os, client.os ?? commonWords.notReported],
    [healthWords.logLevel, client.log_level ?? commonWords.notReported],
    [
      healthWords.interval,
      client.interval_seconds ? healthWords.seconds(client.interval_seconds) : commonWords.notReported,
    ],
    [
      healthWords.capabilities,
      client.capabilities?.map((action) => actionWords[action] ?? action).join(", ") ?? healthWords.all,
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
            ${GAUGES.map((gauge) => h(Gauge, { ...gauge, value: health[gauge.key] ?? null }))}</dl>`
        : html`<p class="note">${healthWords.none}</p>`
    }
    ${health && h(HealthOverTime, { uuid: client.uuid, gauges: GAUGES })}
    ${h(Machine, { client })}
  </div>`;
}
