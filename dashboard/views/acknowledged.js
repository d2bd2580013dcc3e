/** Failures that somebody acknowledged in the last 24 hours. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { recentlyAcknowledged } from "../lib/api/history.js";
import { person } from "../lib/format.js";
import { html } from "../lib/html.js";
import { acknowledgedWords } from "../lib/words/acknowledged.js";
import { failureWords } from "../lib/words/trouble.js";
import { wordsOf } from "../lib/problems.js";
import { Age, LoadFailed, Loading, NameButton } from "./parts.js";

/** @typedef {import("../lib/types").Acknowledged} AcknowledgedFailure */

/** @param {{row: AcknowledgedFailure}} props */
function Row({ row }) {
  return html`<li>
    ${h(NameButton, { client: row })}
    ${row.site && html`<span class="quiet">${row.site}</span>`}
    ${row.unit && html`<code>${row.unit}</code>`}
    <span class="quiet">${failureWords.by({ who: person(row.acknowledged_by) })}, ${h(Age, { at: row.acknowledged_at })}</span>
  </li>`;
}

export function Acknowledged() {
  const [rows, setRows] = useState(/** @type {AcknowledgedFailure[] | null} */ (null));
  const [failed, setFailed] = useState("");
  async function load() {
    setFailed("");
    await recentlyAcknowledged().then(
      (page) => setRows(page.items),
      (error) => setFailed(wordsOf(error)),
    );
  }
  useEffect(() => void load(), []);
  if (failed) return h(LoadFailed, { text: acknowledgedWords.failed, why: failed, retry: load });
  if (!rows) return h(Loading, { rows: 2 });
  if (!rows.length) return html`<p class="quiet">${acknowledgedWords.none}</p>`;
  return html`<ul>${rows.map((row) => h(Row, { key: row.uuid, row }))}</ul>`;
}
