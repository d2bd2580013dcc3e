/** Every bulk command, the newest first, and one of them in full. */
import { h } from "../vendor/preact.js";
import { listBatches } from "../lib/api/batches.js";
import { person } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { go, param } from "../lib/url.js";
import { batchWords } from "../lib/words/batches.js";
import { commandWords } from "../lib/words/commands.js";
import { actionWords, commonWords } from "../lib/words/first.js";
import { BatchView } from "./batch.js";
import { ListState } from "./list_state.js";
import { Time } from "./parts.js";
import { Schedules } from "./schedules.js";

const chosen = param("b");

/** @param {{batch: import("../lib/types").Batch}} props */
function Row({ batch }) {
  const on = chosen.value === batch.id;
  return html`<li><button class=${classes("incident-row", on && "on")} aria-pressed=${on}
      onClick=${() => go({ b: on ? null : batch.id })}>
      <span class="incident-head"><strong>${actionWords[batch.action] ?? batch.action}</strong>
        <span class=${classes("tag", `batch-${batch.state}`)}>${batchWords.state[batch.state] ?? batch.state}</span>
      </span>
      <span class="quiet">${h(Time, { at: batch.created_at })} · ${commandWords.by({ who: person(batch.requested_by) })}</span>
      ${batch.reason && html`<span>${batch.reason}</span>`}
    </button></li>`;
}

export function BatchesPage() {
  const list = usePages("batches", (cursor, abort) => listBatches(cursor, abort));
  return html`<div class="page-head"><h1>${batchWords.pageTitle}</h1></div>
    <p class="quiet lead">${batchWords.lead}</p>
    ${h(Schedules, {})}
    <div class=${classes("incidents", chosen.value && "with-details")}>
      <section class="card" aria-label=${batchWords.pageTitle}>
        ${h(ListState, { list, failed: batchWords.failed, rows: 3 })}
        ${list.items && html`<ul>${list.items.map((batch) => h(Row, { key: batch.id, batch }))}</ul>`}
        ${list.items?.length === 0 && html`<p class="note">${batchWords.none}</p>`}
        ${
          list.more &&
          html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>
            ${commonWords.more}</button>`
        }
      </section>
      ${
        chosen.value &&
        html`<section class="card" aria-label=${batchWords.one}>
          ${h(BatchView, { id: chosen.value, key: chosen.value })}</section>`
      }
    </div>`;
}
