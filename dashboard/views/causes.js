/** One card for each cause of failures, first on the page; the rows of its displays are folded into it. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { causes } from "../lib/causes.js";
import { kept, narrowed } from "../lib/filter.js";
import { clients, overview, places, version } from "../lib/fleet.js";
import { capital, nameOf } from "../lib/format.js";
import { html } from "../lib/html.js";
import { mayOperate } from "../lib/session.js";
import { unsteady } from "../lib/unsteady.js";
import { go } from "../lib/url.js";
import { causeWords } from "../lib/words/trouble.js";
import { shopWords } from "../lib/words/first.js";
import { lazy } from "./lazy.js";
import { Age, Glyph, Time } from "./parts.js";
import { SharedLogins, sharedLogins } from "./shared_logins.js";
import { Taken } from "./taken.js";

/** @typedef {import("../lib/types").Client} Client */
/** @typedef {import("../lib/causes.js").Cause} Cause */

const QuietDialog = lazy(async () => (await import("./quiet_form.js")).QuietDialog, { bare: true });
const ReleaseDialog = lazy(async () => (await import("./release.js")).ReleaseDialog, { bare: true });
const ALL_OFF = { status: null, q: null, site: null, nosite: null, tag: null, incident: null };

/** @param {Cause} cause */
export function placeOf({ incident, rows }) {
  if (incident.kind === "site") return incident.key;
  if (incident.kind === "subnet") return causeWords.network({ subnet: incident.key });
  return new Set(rows.map((client) => client.site)).size > 1 ? causeWords.several : causeWords.some;
}

/** How many of its displays are unwell; of a large fleet the page may not know them. @param {Cause} cause */
export const unwellIn = ({ incident, rows }) => (places.value ? Math.max(incident.unwell, rows.length) : rows.length);

/** How its displays are unwell, if all are known to be so in the same way. @param {Cause} cause */
export function how(cause) {
  const { rows } = cause;
  if (rows.length < unwellIn(cause)) return "bad";
  const states = new Set(rows.map((client) => client.status));
  const [only] = states;
  return states.size === 1 && (only === "stale" || only === "crashed") ? only : "bad";
}

/** The card's second sentence: of a place the likely cause, of others what they share too. @param {Cause} cause */
function why({ incident }) {
  const { kind } = incident;
  const cause = incident.cause;
  const at = cause.lastIndexOf("; ");
  if (kind === "cluster" || at < 0) return cause;
  const likely = cause.slice(at + 2);
  return capital(likely);
}

/** @param {Client[]} rows */
function recovery(rows) {
  if (rows.some((client) => client.recovery?.state === "blocked_breaker")) return causeWords.holds;
  const busy = rows.filter((client) => client.open_command?.source === "recovery").length;
  if (busy) return causeWords.acts({ n: busy });
  return rows.some((client) => client.recovery?.state === "off") ? causeWords.off : "";
}

/** @param {{cause: Cause}} props */
function Card({ cause }) {
  const { incident, rows } = cause;
  const [dialog, setDialog] = useState("");
  const site = incident.kind === "site" ? incident.key : null;
  const all = Math.max(incident.kind === "cluster" ? 0 : (incident.group_size ?? 0), incident.members);
  const held = site !== null && overview.value?.breaker.sites.includes(site);
  const close = () => setDialog("");
  const open = () => go({ v: "incidents", i: String(incident.id), d: null });
  return html`<li class="trouble-card">
    ${h(Glyph, { shape: "warning" })}
    <div><h2>${placeOf(cause)}: ${shopWords.are({ how: how(cause), n: unwellIn(cause), all_n: all })}
        ${" "}${causeWords.since} ${h(Time, { at: incident.began_at })}${" "}
        <span class="quiet">${h(Age, { at: incident.began_at })}${
          incident.times > 1 && html` · ${causeWords.again({ n: incident.times })}`
        }</span></h2>
      <p>${why(cause)} ${recovery(rows)}</p></div>
    <div class="buttons">
      ${h(Taken, { path: `/api/incidents/${incident.id}`, name: placeOf(cause), trouble: incident })}
      <button class="plain" onClick=${() => go({ ...ALL_OFF, incident: String(incident.id) })}>
        ${causeWords.show({ n: unwellIn(cause) })}</button>
      ${mayOperate.value && site && html`<button class="plain" onClick=${() => setDialog("snooze")}>${causeWords.snooze}</button>`}
      ${mayOperate.value && held && html`<button class="plain" onClick=${() => setDialog("release")}>${causeWords.release}</button>`}
      <button class="link" onClick=${open}>${causeWords.story}</button>
    </div>
    ${dialog === "release" && h(ReleaseDialog, { sites: [incident.key], n: unwellIn(cause), close })}
    ${dialog === "snooze" && h(QuietDialog, { preset: "snooze", whom: { scope: "site", site: site ?? "" }, close, done: close })}
  </li>`;
}

/** Displays that keep losing the broker: a trouble of their own, part of no incident. */
function Unsteady() {
  const found = [...unsteady.value].flatMap(([uuid, losses]) => {
    const client = clients.get(uuid);
    return client && (!narrowed.value || kept(client)) ? [{ client, losses }] : [];
  });
  const [worst] = found;
  if (!worst) return null;
  const words = found.length === 1 ? causeWords.worst : causeWords.worstOf;
  return html`<li class="trouble-card mild">
    ${h(Glyph, { shape: "late" })}
    <div><h2>${causeWords.unsteady({ n: found.length })}</h2>
      <p>${words({ name: nameOf(worst.client), losses_n: worst.losses })}</p></div>
    <div class="buttons"><button class="plain" onClick=${() => go({ ...ALL_OFF, status: "unsteady" })}>
      ${causeWords.show({ n: found.length })}</button></div>
  </li>`;
}

export function Causes() {
  void version.value;
  if (!overview.value || overview.value.bridge.state === "silent") return null; // one banner replaces them
  const cards = causes.value;
  const shared = sharedLogins();
  if (!cards.length && !shared.length && !unsteady.value.size) return null;
  return html`<section aria-label=${causeWords.title}><ul class="causes">
    ${cards.map((cause) => h(Card, { key: cause.incident.id, cause }))}
    ${shared.length > 0 && h(SharedLogins, { found: shared })}${h(Unsteady, {})}</ul></section>`;
}
