/** The logs of the fleet: who logs most, the recent errors of all, or everything of one display. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { logSummary, recentErrors } from "../lib/api/logs.js";
import { clients, version } from "../lib/fleet.js";
import { nameOf } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { listed } from "../lib/lists.js";
import { usePages } from "../lib/pages.js";
import { poll } from "../lib/poll.js";
import { useTail } from "../lib/tail.js";
import { go, openDisplay, param } from "../lib/url.js";
import { logWords } from "../lib/words/logs.js";
import { retryingAfter } from "../lib/problems.js";
import { LogList } from "./log_list.js";
import { Follow, LogView, Newer } from "./log_view.js";
import { ExportButton, LoadFailed, Loading } from "./parts.js";

/** @typedef {import("../lib/types").Summary} Summary */

const RANGES = [1, 24, 168];
const PAGE = 100;
const COUNT_EVERY = 15_000;
const LISTED = 50;
const hours = param("hours");
const chosen = param("c");
const levels = param("xl");
const text = param("xq");
const who = param("who");

const range = () => (RANGES.includes(Number(hours.value)) ? Number(hours.value) : 24);

/** @param {Record<string, number>} counts */
const errorsOf = (counts) => (counts["critical"] ?? 0) + (counts["error"] ?? 0);
/** @param {Record<string, number>} counts */
const linesOf = (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0);

/** @param {number} wanted */
function useSummary(wanted) {
  const [summary, setSummary] = useState(/** @type {Summary | null} */ (null));
  const [failed, setFailed] = useState("");
  useEffect(() => {
    setSummary(null);
    const look = async (/** @type {AbortSignal} */ abort) => {
      setSummary(await logSummary(wanted, null, abort));
      setFailed("");
    };
    return poll(
      look,
      () => COUNT_EVERY,
      (error) => setFailed(retryingAfter(error)),
    ).stop;
  }, [wanted]);
  return { summary, failed };
}

/** @param {{row: Summary["clients"][number]}} props */
function WhoRow({ row }) {
  void version.value; // its site may be known later
  const on = chosen.value === row.uuid;
  const errors = errorsOf(row.counts);
  const choose = () => go({ c: on ? null : row.uuid, xl: null, xq: null });
  return html`<li><button class=${classes("who-row", on && "on")} aria-pressed=${on} onClick=${choose}>
      <span class="who-name">${row.name || row.uuid.slice(0, 8)}<span class="quiet">${clients.get(row.uuid)?.site}
        </span>
      </span>
      <span class=${classes("figure", errors > 0 ? "over" : "quiet")}>
        ${errors ? logWords.errors({ n: errors }) : logWords.lines({ n: linesOf(row.counts) })}</span>
    </button></li>`;
}

/** @param {{summary: Summary}} props */
function Who({ summary }) {
  const wanted = who.value.trim().toLowerCase();
  const found = summary.clients.filter(
    (row) => !wanted || row.name.toLowerCase().includes(wanted) || row.uuid.startsWith(wanted),
  );
  found.sort((a, b) => errorsOf(b.counts) - errorsOf(a.counts) || linesOf(b.counts) - linesOf(a.counts));
  /** @param {InputEvent} event */
  const type = (event) => go({ who: /** @type {HTMLInputElement} */ (event.currentTarget).value }, { replace: true });
  return html`<input type="search" class="search" aria-label=${logWords.who} placeholder=${logWords.who}
      value=${who.value} onInput=${type} />
    <ul class="who-list">${found.slice(0, LISTED).map((row) => h(WhoRow, { key: row.uuid, row }))}</ul>
    ${found.length > LISTED && html`<p class="quiet">${logWords.whoMore({ n: found.length - LISTED })}</p>`}
    ${found.length === 0 && html`<p class="note">${logWords.whoNone}</p>`}`;
}

/** @param {{summary: Summary}} props */
function Totals({ summary }) {
  const { totals } = summary;
  const what = listed([
    logWords.errors({ n: errorsOf(totals) }),
    logWords.warnings({ n: totals["warning"] ?? 0 }),
    logWords.lines({ n: linesOf(totals) }),
  ]);
  return html`<p class="quiet lead">${logWords.total({ what, n: summary.clients.length })}</p>`;
}

function RecentErrors() {
  const about = String(range());
  const list = usePages(about, (cursor, abort) => recentErrors({ hours: range(), limit: PAGE, cursor }, abort));
  const tail = useTail(about, list, (abort) => recentErrors({ hours: range(), limit: PAGE }, abort));
  const save = async () =>
    (await import("../lib/exports.js")).saveLogs((cursor, limit) => recentErrors({ hours: range(), limit, cursor }));
  return html`<div class="log-head"><h2>${logWords.recent}</h2>
      <span class="buttons">${h(ExportButton, { save, title: logWords.csv })}${h(Follow, { tail })}</span></div>
    <p class="quiet">${logWords.lead}</p>
    <div ref=${tail.top}></div>
    ${h(Newer, { tail, reload: list.reload })}
    ${h(LogList, { list, named: true, empty: logWords.noneRecent })}`;
}

/** @param {{uuid: string, name: string}} props */
function OfOne({ uuid, name }) {
  return html`<div class="log-head"><h2>${logWords.of({ name })}</h2>
      <span class="buttons"><button class="plain" onClick=${() => openDisplay(uuid)}>${logWords.open}</button>
        <button class="plain" onClick=${() => go({ c: null, xl: null, xq: null })}>${logWords.all}</button></span></div>
    ${h(LogView, {
      key: uuid,
      uuid,
      hours: range(),
      levels: levels.value,
      text: text.value,
      levelKey: "xl",
      textKey: "xq",
    })}`;
}

export function LogsPage() {
  void version.value;
  const { summary, failed } = useSummary(range());
  const uuid = chosen.value;
  const known = clients.get(uuid) ?? summary?.clients.find((row) => row.uuid === uuid);
  /** @param {Event} event */
  const choose = (event) =>
    go({ hours: /** @type {HTMLSelectElement} */ (event.currentTarget).value }, { replace: true });
  return html`<div class="page-head"><h1>${logWords.title}</h1>
      <label class="inline">${logWords.range}
        <select value=${range()} onChange=${choose}>
          ${RANGES.map((n) => html`<option key=${n} value=${n}>${n < 48 ? logWords.hours({ n }) : logWords.days({ n: n / 24 })}</option>`)}</select>
      </label>
    </div>
    ${summary && h(Totals, { summary })}
    <div class="explorer">
      <section class="card who-card" aria-labelledby="who-title"><h2 id="who-title">${logWords.whoTitle}</h2>
        ${summary && h(Who, { summary })}
        ${!summary && !failed && h(Loading, { rows: 5 })}
        ${!summary && failed && h(LoadFailed, { text: logWords.countsFailed, why: failed })}</section>
      <section class="card log-card" aria-label=${logWords.title}>
        ${uuid ? h(OfOne, { uuid, name: known ? nameOf(known) : uuid.slice(0, 8) }) : h(RecentErrors, {})}</section>
    </div>`;
}
