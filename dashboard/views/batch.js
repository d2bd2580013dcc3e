/** One bulk command: how far it has come, wave by wave, and what became of each display. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import * as api from "../lib/api/batches.js";
import { clients, version } from "../lib/fleet.js";
import { person } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { mayOperate } from "../lib/session.js";
import { progressOf } from "../lib/batch_progress.js";
import { batchWords } from "../lib/words/batches.js";
import { commandWords } from "../lib/words/commands.js";
import { actionWords, commonWords, stepWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { LoadFailed, Loading, NameButton, Time } from "./parts.js";

/** @typedef {import("../lib/types").BatchDetails} BatchDetails */
/** @typedef {import("../lib/types").BatchMember} BatchMember */

const PERIOD = 1_500;
const PERIOD_OVER = 15_000;
const GOOD = new Set(["succeeded"]);
const BAD = new Set(["failed", "rejected", "expired", "timed_out", "cancelled"]);

/** @param {BatchDetails} batch */
const isLive = (batch) => batch.state === "running" || batch.state === "paused";

/**
 * Shares of the displays: proven, going on, gone wrong, not sent; the rest waits for its wave.
 * @param {{batch: BatchDetails}} props
 */
function Bar({ batch }) {
  const sum = (/** @type {(state: string) => boolean} */ wanted) =>
    Object.entries(batch.states).reduce((n, [state, amount]) => n + (wanted(state) ? amount : 0), 0);
  const good = sum((state) => GOOD.has(state));
  const bad = sum((state) => BAD.has(state));
  const going = sum((state) => !GOOD.has(state) && !BAD.has(state));
  const { accepted: _, waiting = 0, ...unsent } = batch.outcomes;
  const text = progressOf({ good, going, bad, waiting, unsent, all: batch.clients });
  const left = Object.values(unsent).reduce((n, amount) => n + amount, 0);
  return html`<svg class="batch-bar" viewBox=${`0 0 ${Math.max(1, batch.clients)} 1`} preserveAspectRatio="none"
      role="img" aria-label=${text}>
      <rect class="batch-good" width=${good} height="1" />
      <rect class="batch-going" x=${good} width=${going} height="1" />
      <rect class="batch-bad" x=${good + going} width=${bad} height="1" />
      <rect class="batch-unsent" x=${good + going + bad} width=${left} height="1" /></svg>
    <p role="status">${text}</p>`;
}

/** @param {{member: BatchMember, waves: number}} props */
function Member({ member, waves }) {
  void version.value; // its site may be known later
  const site = clients.get(member.uuid)?.site;
  const state = member.command?.state;
  const word = state ? (stepWords[state] ?? state) : (batchWords.outcome[member.outcome] ?? member.outcome);
  return html`<li class="batch-member">${h(NameButton, { client: { uuid: member.uuid, name: member.name ?? "", site } })}
    ${site && html`<span class="quiet">${site}</span>`}
    ${waves > 1 && member.wave && html`<span class="quiet">${batchWords.wave({ n: member.wave })}</span>`}
    <span class=${classes("tag", state && `outcome-${state}`)}>${word}</span></li>`;
}

/** @param {{batch: BatchDetails, tell: (call: Promise<BatchDetails>) => void}} props */
function Buttons({ batch, tell }) {
  if (!mayOperate.value || !isLive(batch)) return null;
  return html`<div class="buttons">
    ${
      batch.state === "running" &&
      html`<button class="plain" onClick=${() => tell(api.pauseBatch(batch.id))}>
        ${batchWords.pause}</button>`
    }
    ${
      batch.state === "paused" &&
      html`<button class="plain" onClick=${() => tell(api.resumeBatch(batch.id))}>
        ${batchWords.resume}</button>`
    }
    <button class="danger" onClick=${() => tell(api.abortBatch(batch.id))}>${batchWords.abort}</button></div>`;
}

/** @param {{id: string}} props */
export function BatchView({ id }) {
  const [batch, setBatch] = useState(/** @type {BatchDetails | null} */ (null));
  const [failed, setFailed] = useState("");
  /** @param {unknown} error */
  const refuse = (error) => setFailed(wordsOf(error));
  useEffect(() => {
    let live = true;
    const look = async (/** @type {AbortSignal} */ abort) => {
      const told = await api.getBatch(id, abort);
      live = isLive(told) || Object.keys(told.states).some((state) => !GOOD.has(state) && !BAD.has(state));
      setBatch(told);
      setFailed("");
    };
    return poll(look, () => (live ? PERIOD : PERIOD_OVER), refuse).stop;
  }, [id]);
  if (!batch) return failed ? h(LoadFailed, { text: batchWords.failedOne, why: failed }) : h(Loading, { rows: 4 });
  const more = batch.clients - batch.members.items.length;
  return html`<div class="batch">
    <p><strong>${actionWords[batch.action] ?? batch.action}
      </strong> <span class=${classes("tag", `batch-${batch.state}`)}>
        ${batchWords.state[batch.result ?? batch.state] ?? batch.state}</span>${" "}
      <span class="quiet">${h(Time, { at: batch.created_at })} · ${commandWords.by({ who: person(batch.requested_by) })}
        ${batch.waves > 1 ? ` · ${batchWords.waveOf({ n: batch.wave, all: batch.waves })}` : ""}</span></p>
    ${batch.reason && html`<p class="quiet">${batch.reason}</p>`}
    ${batch.state_reason && html`<p class="lock" role="alert">${batch.state_reason}</p>`}
    ${h(Bar, { batch })}
    ${h(Buttons, { batch, tell: (call) => void call.then(setBatch, refuse) })}
    <p class="form-error" role="alert">${failed}</p>
    <ul class="batch-members">${batch.members.items.map((member) => h(Member, { key: member.uuid, member, waves: batch.waves }))}</ul>
    ${more > 0 && html`<p class="quiet">${commonWords.andMore({ n: more })}</p>`}
  </div>`;
}
