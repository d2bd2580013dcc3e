/** Every unhealthy display, with three answers: what is wrong, what recovery did, why it is not acting now. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { hasCard, troubles } from "../lib/troubles.js";
import { now } from "../lib/clock.js";
import { filtered, kept } from "../lib/filter.js";
import { clients, isLocked, overview, places, version } from "../lib/fleet.js";
import { exact, left } from "../lib/format.js";
import { html } from "../lib/html.js";
import { passedWords } from "../lib/match.js";
import { isMute, isUnwell, serviceFails } from "../lib/unwell.js";
import { go } from "../lib/url.js";
import { attentionWords } from "../lib/words/trouble.js";
import { actionWords, stepWords } from "../lib/words/first.js";
import { Age, NameButton, StatusBadge, Time } from "./parts.js";

/** @typedef {import("../lib/types").Client} Client */

const FEW = 5;
const MANY = 60; // beyond it the table with its filters serves better
const WEIGHT = /** @type {Record<string, number>} */ ({ crashed: 0, stale: 1 });

/** What is wrong, each fault in words. @param {{client: Client}} props */
export function Faults({ client }) {
  const heard = client.last_heartbeat_at;
  const found = [
    client.status === "crashed" && html`${attentionWords.crashed} ${h(Age, { at: client.status_since })}`,
    client.status === "stale" &&
      (heard ? html`${attentionWords.stale} ${h(Age, { at: heard })}` : attentionWords.staleNever),
    isMute(client) && html`${attentionWords.mute} ${h(Age, { at: heard })}`,
    serviceFails(client) && attentionWords.failed({ unit: client.service_failed_unit ?? "" }),
    client.screen_failed_since &&
      html`${attentionWords.screen({ how: client.screen_health })} ${h(Time, { at: client.screen_failed_since })}`,
    ...(client.limits ?? []).map(
      (one) => html`${attentionWords.limit({ passed: passedWords(one) })} ${h(Time, { at: one.since })}`,
    ),
  ].filter(Boolean);
  return html`<span>${found.map((one, i) => [i > 0 && " · ", one])}</span>`;
}

/** What recovery has done so far. @param {Client} client */
export function recoveryDid(client) {
  const open = client.open_command;
  if (open?.action && open.source === "recovery") {
    return attentionWords.step({
      action: actionWords[open.action] ?? open.action,
      step: stepWords[open.state ?? ""] ?? "",
    });
  }
  const step = client.recovery?.step ?? 0;
  if (step > 0) return attentionWords.steps({ n: step });
  return isLocked(client) ? attentionWords.sentLately : attentionWords.nothingYet;
}

/**
 * Why recovery is not acting now, with the exact deadline where there is one.
 * @param {Client} client @param {number} reference
 */
export function recoveryWhy(client, reference) {
  const recovery = client.recovery;
  if (!recovery) return attentionWords.notUnwell;
  const why = recovery.why || recovery.state;
  const open = recovery.until && Date.parse(recovery.until) > reference;
  return open && recovery.until
    ? `${why} ${attentionWords.until({ time: exact(recovery.until), left: left(recovery.until, reference) })}`
    : why;
}

/**
 * The same below the banner of an open breaker, which says the rest.
 * @param {Client} client @param {number} reference
 */
function whyInRow(client, reference) {
  const isSaid = overview.value?.breaker.open && client.recovery?.state === "blocked_breaker";
  return isSaid ? attentionWords.heldBack : recoveryWhy(client, reference);
}

/** @param {{client: Client}} props */
export function IncidentLink({ client }) {
  const { incident } = client;
  if (!incident) return null;
  return html`<button class="link incident-link" title=${incident.cause}
    onClick=${() => go({ v: "incidents", i: String(incident.id), d: null })}>${attentionWords.incident({ id: incident.id })}
  </button>`;
}

/** @param {{client: Client}} props */
function Row({ client }) {
  const reference = now.value;
  return html`<li class="attention-row">
    <div class="attention-who">
      ${h(NameButton, { client })}
      ${h(StatusBadge, { status: client.status })}
      ${client.site && html`<span class="quiet">${client.site}</span>`}
      ${h(IncidentLink, { client })}
    </div>
    <dl>
      <div><dt>${attentionWords.wrong}</dt><dd>${h(Faults, { client })}</dd></div>
      <div><dt>${attentionWords.did}</dt><dd>${recoveryDid(client)}</dd></div>
      <div><dt>${attentionWords.why}</dt><dd>${whyInRow(client, reference)}</dd></div>
    </dl>
  </li>`;
}

/** @returns {{rows: Client[], told: number}} those that no card tells of, worst first, then the longest lasting */
function unwell() {
  void version.value;
  /** @param {Client} client */
  const weight = (client) => WEIGHT[client.status] ?? 2;
  const all = [...clients.values()].filter((client) => isUnwell(client) && (!filtered.value || kept(client)));
  const rows = all
    .filter((client) => !hasCard(client))
    .sort(
      (a, b) =>
        weight(a) - weight(b) || Date.parse(a.status_since) - Date.parse(b.status_since) || (a.uuid < b.uuid ? -1 : 1),
    );
  return { rows, told: all.length - rows.length };
}

/** How many unwell displays of a large fleet no card tells of. */
const unlisted = () =>
  troubles.value - (overview.value?.incidents.filter((incident) => incident.unwell > 0).length ?? 0);

export function Attention() {
  const [all, setAll] = useState(false);
  if (!overview.value || overview.value.bridge.state === "silent") return null; // one banner replaces many rows
  const { rows, told } = unwell();
  if (!rows.length) return null;
  const number = places.value && !filtered.value ? Math.max(rows.length, unlisted()) : rows.length;
  const shown = rows.slice(0, all ? MANY : FEW);
  return html`<section class="attention" aria-labelledby="attention-title">
    <h2 id="attention-title">${attentionWords.title} <span class="quiet">${attentionWords.count({ n: number, told_n: told })}</span>
    </h2>
    <ul>${shown.map((client) => h(Row, { key: client.uuid, client }))}</ul>
    ${
      !all &&
      number > FEW &&
      html`<button class="link show-all" onClick=${() => setAll(true)}>
        ${attentionWords.showAll({ n: number - FEW })}</button>`
    }
    ${all && number > shown.length && html`<p class="quiet">${attentionWords.inTable({ n: number - shown.length })}</p>`}
  </section>`;
}
