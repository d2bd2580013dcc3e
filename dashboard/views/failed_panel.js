/** The orange panel of displays whose service has failed. It is not in the document when there is none. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { acknowledge, marks, panelRows } from "../lib/failures.js";
import { failures, updatedAt, updating } from "../lib/fleet.js";
import { exact, nameOf, person } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { mayOperate } from "../lib/session.js";
import { openDisplay } from "../lib/url.js";
import { commonWords } from "../lib/words/common.js";
import { failureWords } from "../lib/words/fleet.js";
import { Age, Glyph } from "./parts.js";

/** @typedef {import("../lib/types").Failure} Failure */
/** @typedef {import("../lib/failures.js").Mark} Mark */

const FEW = 5;

/** Why nothing can be acknowledged now, or null. */
export function acknowledgeBlocked() {
  if (!mayOperate.value) return failureWords.viewer;
  return updating.value ? null : commonWords.outOfDate;
}

/** @param {Mark} mark */
function markText(mark) {
  if (mark.phase === "done") return `${failureWords.done} ✓`;
  if (mark.phase === "elsewhere") return mark.detail ? failureWords.by(person(mark.detail)) : failureWords.elsewhere;
  if (mark.phase === "changed") return failureWords.again(mark.detail ? exact(mark.detail) : "");
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
    <button class="orange" disabled=${sending || blocked !== null} title=${blocked ?? ""}
      aria-label=${mark?.phase === "error" ? undefined : failureWords.acknowledgeOf(nameOf(failure))}
      onClick=${() => acknowledge(failure)}>${word}</button>
  </span>`;
}

/** @param {{failure: Failure, mark: Mark | undefined}} props */
function Row({ failure, mark }) {
  const dim = mark && mark.phase !== "error" && mark.phase !== "changed";
  return html`<li class=${classes("failed-row", dim && "dim")}>
    <div class="failed-who">
      <button class="link strong" onClick=${() => openDisplay(failure.uuid)}>${nameOf(failure)}</button>
      ${failure.site && html`<span class="quiet">${failure.site}</span>`}
    </div>
    <code class="failed-unit" title=${failureWords.unit}>${failure.service_failed_unit}</code>
    <span class="failed-when">${h(Age, { at: failure.service_failed_at })}</span>
    ${h(Acknowledge, { failure, mark })}
  </li>`;
}

function Paused() {
  const at = updatedAt.value;
  if (updating.value || !at) return null;
  return html`<span class="paused" role="status">${failureWords.paused(exact(at))}</span>`;
}

export function FailedPanel() {
  const [all, setAll] = useState(false);
  const rows = panelRows.value;
  if (!rows.length) return null;
  const shown = all ? rows : rows.slice(0, FEW);
  return html`<section class="failed-panel" aria-label=${failureWords.region}>
    <header>
      <h2>${h(Glyph, { shape: "warning" })}${failureWords.title(failures.value.length || rows.length)}</h2>
      ${h(Paused, {})}
    </header>
    <ul>${shown.map((failure) => h(Row, { key: failure.uuid, failure, mark: marks.value.get(failure.uuid) }))}</ul>
    ${
      rows.length > FEW &&
      html`<button class="link show-all" aria-expanded=${all} onClick=${() => setAll(!all)}>
        ${all ? failureWords.showLess : failureWords.showAll(rows.length)}
      </button>`
    }
  </section>`;
}
