/** Failures that somebody acknowledged in the last 24 hours; asked for when it is opened. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { recentlyAcknowledged } from "../lib/api.js";
import { nameOf } from "../lib/fleet.js";
import { Age, person } from "../lib/format.js";
import { html } from "../lib/html.js";
import { S } from "../lib/strings.js";
import { openDisplay } from "../lib/url.js";
import { wordsOf } from "../lib/words.js";
import { LoadFailed, Loading } from "./parts.js";

/** @typedef {import("../lib/types").Acknowledged} Acknowledged */

/** @param {{row: Acknowledged}} props */
function Row({ row }) {
  return html`<li>
    <button class="link strong" onClick=${() => openDisplay(row.uuid)}>${nameOf(row)}</button>
    ${row.unit && html`<code>${row.unit}</code>`}
    <span class="quiet">${S.failed.by(person(row.acknowledged_by))}, ${h(Age, { at: row.acknowledged_at })}</span>
  </li>`;
}

export function RecentlyAcknowledged() {
  const [rows, setRows] = useState(/** @type {Acknowledged[] | null} */ (null));
  const [failed, setFailed] = useState("");
  async function load() {
    setFailed("");
    await recentlyAcknowledged().then(
      (page) => setRows(page.items),
      (error) => setFailed(wordsOf(error)),
    );
  }
  /** @param {Event} event */
  const toggle = (event) => /** @type {HTMLDetailsElement} */ (event.currentTarget).open && load();
  return html`<details class="acknowledged" onToggle=${toggle}>
    <summary>${S.acknowledged.title}</summary>
    ${failed ? h(LoadFailed, { text: S.acknowledged.failed, why: failed, retry: load }) : !rows && h(Loading, { rows: 2 })}
    ${rows && (rows.length ? html`<ul>${rows.map((row) => h(Row, { key: row.uuid, row }))}</ul>` : html`<p class="quiet">${S.acknowledged.none}</p>`)}
  </details>`;
}
