// @ts-check
/** Errors of the whole fleet, newest first. */
import { h } from "../vendor/preact.js";
import { recentErrors } from "../lib/api.js";
import { html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { S } from "../lib/strings.js";
import { go, param } from "../lib/url.js";
import { LogList } from "./log_list.js";

const RANGES = [1, 24, 168];
const PAGE = 100;
const hours = param("hours");

export function LogsPage() {
  const range = RANGES.includes(Number(hours.value)) ? Number(hours.value) : 24;
  const list = usePages(String(range), (cursor, abort) => recentErrors({ hours: range, limit: PAGE, cursor }, abort));
  /** @param {Event} event */
  const choose = (event) => go({ hours: /** @type {HTMLSelectElement} */ (event.currentTarget).value }, { replace: true });
  return html`<div class="page-head"><h1>${S.logs.title}</h1>
      <label class="inline">${S.logs.range}
        <select value=${range} onChange=${choose}>${RANGES.map((n) => html`<option key=${n} value=${n}>${S.logs.hours(n)}</option>`)}</select>
      </label>
    </div>
    <p class="quiet lead">${S.logs.lead}</p>
    <section class="card" aria-label=${S.logs.title}>${h(LogList, { list, named: true, empty: S.logs.noneRecent })}</section>`;
}
