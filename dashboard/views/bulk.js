/** The dialog of a bulk command: what it would do, the question, and then what became of each display. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import * as api from "../lib/api/batches.js";
import { newUuid } from "../lib/commands.js";
import { clients, refresh, version } from "../lib/fleet.js";
import { exact } from "../lib/format.js";
import { html } from "../lib/html.js";
import { quietTimes } from "../lib/quiet.js";
import { asking, chooseNone } from "../lib/selection.js";
import { go } from "../lib/url.js";
import { batchWords } from "../lib/words/batches.js";
import { commandWords } from "../lib/words/commands.js";
import { actionWords, commonWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { indexed, quietFor, waitingWords } from "../lib/quiet_now.js";
import { BatchView } from "./batch.js";
import { Dialog } from "./dialog.js";
import { Loading } from "./parts.js";

/** @typedef {import("../lib/types").Action} Action */
/** @typedef {import("../lib/types").Sent} Sent */

const TYPE_ABOVE = 10; // more displays than that, and their number has to be typed
const WAVES = [1, "10%", "rest"];

/**
 * What would happen, in words: "29 will be sent · 6 locked until 14:31:05 · 2 already have a command".
 * @param {{plan: Sent}} props
 */
function Consequence({ plan }) {
  const until = plan.outcomes
    .map((one) => one.lockout_until)
    .filter((at) => at !== null)
    .sort()
    .at(-1);
  const parts = Object.entries(plan.counts).map(([outcome, n]) =>
    batchWords.would({ outcome, n, until: until ? exact(until) : "" }),
  );
  return html`<p class="consequence" role="status">${parts.join(" · ")}</p>`;
}

/** How many of the displays are in a quiet time that holds bulk commands back. @param {string[]} uuids */
function waiting(uuids) {
  void version.value;
  const index = indexed(quietTimes.value);
  const isHeld = (/** @type {string} */ uuid) =>
    quietFor(index, clients.get(uuid) ?? { uuid }).some((one) => one.quiet.includes("commands"));
  return waitingWords(uuids.filter(isHeld).length);
}

/** @param {{action: Action, uuids: string[], sent: (batchId: string) => void, close: () => void}} props */
function Question({ action, uuids, sent, close }) {
  const [plan, setPlan] = useState(/** @type {Sent | null} */ (null));
  const [failed, setFailed] = useState("");
  const [busy, setBusy] = useState(false);
  const [typed, setTyped] = useState("");
  const [key] = useState(newUuid);
  useEffect(() => {
    const abort = new AbortController();
    api
      .sendMany({ action, clients: uuids, dry_run: true }, null, abort.signal)
      .then(setPlan, (error) => setFailed(wordsOf(error)));
    return () => abort.abort();
  }, []);
  const will = (plan?.counts["accepted"] ?? 0) + (plan?.counts["waiting"] ?? 0);
  const mustType = will > TYPE_ABOVE;
  /** @param {InputEvent} event */
  const type = (event) => setTyped(/** @type {HTMLInputElement} */ (event.currentTarget).value);
  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setBusy(true);
    setFailed("");
    const waves = form.get("waves") ? WAVES : null;
    try {
      const answer = await api.sendMany(
        { action, clients: uuids, reason: String(form.get("reason")).trim(), waves },
        key,
      );
      chooseNone();
      refresh();
      if (answer.batch_id) sent(answer.batch_id);
    } catch (error) {
      setFailed(wordsOf(error)); // the key stays: sent again, nothing runs twice
      setBusy(false);
    }
  }
  const text = commandWords.confirm[action]?.text;
  const held = waiting(uuids);
  return html`<form class="connect" onSubmit=${submit}>
    ${plan ? h(Consequence, { plan }) : !failed && h(Loading, { rows: 1 })}
    ${text && html`<p>${text}</p>`}
    ${held && html`<p class="consequence">${held}</p>`}
    <label>${batchWords.reason}<input name="reason" maxlength="500" autocomplete="off" /></label>
    <label class="check"><input type="checkbox" name="waves" checked=${will > TYPE_ABOVE} />${batchWords.waves}</label>
    ${
      mustType &&
      html`<label>${batchWords.type({ n: will })}
        <input name="typed" inputmode="numeric" autocomplete="off" value=${typed}
          onInput=${type} /></label>`
    }
    <p class="form-error" role="alert">${failed}</p>
    <div class="dialog-foot"><button type="button" class="plain" onClick=${close}>${commonWords.cancel}</button>
      <button class="danger" disabled=${busy || will === 0 || (mustType && typed.trim() !== String(will))}>
        ${busy ? commandWords.sending : batchWords.go({ action: actionWords[action] ?? action, n: will })}</button></div>
  </form>`;
}

/** @param {{action: Action, uuids: string[]}} props */
export function BulkDialog({ action, uuids }) {
  const [asked] = useState(uuids); // what is chosen meanwhile does not change the question
  const [batchId, setBatchId] = useState("");
  const close = () => (asking.value = null);
  const all = () => {
    close();
    go({ v: "batches", b: batchId, d: null });
  };
  const body = batchId
    ? html`${h(BatchView, { id: batchId })}<div class="dialog-foot">
      <button class="plain" onClick=${all}>${batchWords.page}</button>
      <button class="primary" onClick=${close}>${commonWords.close}</button></div>`
    : h(Question, { action, uuids: asked, sent: setBatchId, close });
  return h(Dialog, {
    title: batchWords.title({ action: actionWords[action] ?? action, n: asked.length }),
    onClose: close,
    wide: Boolean(batchId),
    children: body,
  });
}
