/** The orange panel of failed services. Without one there is no panel. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { acknowledge, marks, panelRows } from "../lib/failures.js";
import { filtered, kept } from "../lib/filter.js";
import { clients, failures, updatedAt, updating, version } from "../lib/fleet.js";
import { clientPath } from "../lib/api/fleet.js";
import { exact, nameAndSite, person } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { mayOperate } from "../lib/session.js";
import { commonWords } from "../lib/words/first.js";
import { failureWords } from "../lib/words/trouble.js";
import { IsMended } from "./is_mended.js";
import { lazy } from "./lazy.js";
import { Age, Glyph, NameButton } from "./parts.js";
import { Taken } from "./taken.js";

/** @typedef {import("../lib/types").Failure} Failure */
/** @typedef {import("../lib/failures.js").Mark} Mark */

const FEW = 5;
const MendedDialog = lazy(async () => (await import("./mended_dialog.js")).MendedDialog, { bare: true });

/** Why nothing can be acknowledged now, or null. */
export function acknowledgeBlocked() {
  if (!mayOperate.value) return failureWords.viewer;
  return updating.value ? null : commonWords.outOfDate;
}

/** @param {Mark} mark */
function markText(mark) {
  if (mark.phase === "done") return `${failureWords.done} ✓`;
  if (mark.phase === "elsewhere")
    return mark.detail ? failureWords.by({ who: person(mark.detail) }) : failureWords.elsewhere;
  if (mark.phase === "changed") return failureWords.again({ time: mark.detail ? exact(mark.detail) : "" });
  return mark.detail;
}

/** The button of one failure, or what became of it. @param {{failure: Failure, mark: Mark | undefined}} props */
export function Acknowledge({ failure, mark }) {
  if (mark?.phase === "done" || mark?.phase === "elsewhere")
    return html`<span class="done" role="status">${markText(mark)}</span>`;
  const blocked = acknowledgeBlocked();
  const sending = mark?.phase === "sending";
  const word = sending ? failureWords.sending : mark?.phase === "error" ? commonWords.retry : failureWords.acknowledge;
  return html`<span class="acknowledge">
    ${mark && !sending && html`<span class="mark-note" role="alert">${markText(mark)}</span>`}
    <button class="plain" disabled=${sending || blocked !== null} title=${blocked ?? ""}
      aria-label=${mark?.phase === "error" ? undefined : failureWords.acknowledgeOf({ name: nameAndSite(failure) })}
      onClick=${() => acknowledge(failure)}>${word}</button>
  </span>`;
}

/** How many work again, and the way to acknowledge them. @param {{mended: Failure[], ask: () => void, children: any}} props */
function AllMended({ mended, ask, children }) {
  const blocked = acknowledgeBlocked();
  return html`<p class="all-mended"><span>${failureWords.mended({ n: mended.length })}</span> ${children} <button class="orange"
      disabled=${blocked !== null} title=${blocked ?? ""} onClick=${ask}>
      ${failureWords.acknowledgeThese({ n: mended.length })}…</button></p>`;
}

/** @param {{failure: Failure}} props */
export function OnIt({ failure }) {
  const path = `${clientPath(failure.uuid)}/service_failed`;
  const { service_failed_at } = failure;
  const name = nameAndSite(failure);
  return !failure.service_mended_at && h(Taken, { path, name, trouble: failure, about: { service_failed_at } });
}

/** @param {{failure: Failure, mark: Mark | undefined}} props */
function Row({ failure, mark }) {
  const dim = mark && mark.phase !== "error" && mark.phase !== "changed";
  return html`<li class=${classes("failed-row", dim && "dim")}>
    <div class="failed-who">
      ${h(NameButton, { client: failure })}
      ${failure.site && html`<span class="quiet">${failure.site}</span>`}
    </div>
    <span class="failed-unit"><code title=${failureWords.unit}>${failure.service_failed_unit}</code>
      ${h(IsMended, { failure })}</span>
    <span class="failed-when">${h(Age, { at: failure.service_failed_at })}</span>
    ${!dim && h(OnIt, { failure })}
    ${h(Acknowledge, { failure, mark })}
  </li>`;
}

function Paused() {
  const at = updatedAt.value;
  if (updating.value || !at) return null;
  return html`<span class="paused" role="status">${failureWords.paused({ time: exact(at) })}</span>`;
}

/** @param {Failure} failure */
const isOpen = (failure) => failures.value.includes(failure);

/** @param {Failure} failure */
function isShown(failure) {
  const client = clients.get(failure.uuid);
  return !filtered.value || (client !== undefined && kept(client));
}

export function FailedPanel() {
  const [asking, setAsking] = useState(/** @type {Failure[] | null} */ (null));
  return html`${h(Panel, { ask: setAsking })}
    ${asking && h(MendedDialog, { failures: asking, close: () => setAsking(null) })}`;
}

/** @param {{ask: (mended: Failure[]) => void}} props */
function Panel({ ask }) {
  const [all, setAll] = useState(false);
  void version.value;
  const rows = panelRows.value.filter(isShown);
  if (!rows.length) return null;
  /** @param {Failure} failure */
  const isFolded = (failure) => failure.mended_since && isOpen(failure) && !marks.value.has(failure.uuid);
  const mended = rows.filter(isFolded);
  const fresh = rows.filter((failure) => !isFolded(failure));
  const more =
    (all || fresh.length > FEW || mended.length > 0) &&
    html`<button class="link" aria-expanded=${all} onClick=${() => setAll(!all)}>
      ${all ? failureWords.showLess : failureWords.showAll({ n: rows.length })}</button>`;
  const shown = all ? [...fresh, ...mended] : fresh.slice(0, FEW);
  return html`<section class=${classes("failed-panel", !fresh.length && "calm")} aria-label=${failureWords.region}>
    ${
      fresh.length > 0 &&
      html`<header>
        <h2>${h(Glyph, { shape: "warning" })}${failureWords.title({ n: fresh.filter(isOpen).length || fresh.length })}</h2>
        ${h(Paused, {})}</header>`
    }
    <ul>${shown.map((failure) => h(Row, { key: failure.uuid, failure, mark: marks.value.get(failure.uuid) }))}</ul>
    ${mended.length > 0 ? h(AllMended, { mended, ask: () => ask(mended), children: more }) : more}
  </section>`;
}
