/** Log lines, newest first, as text. */
import { h } from "../vendor/preact.js";
import { clients, version } from "../lib/fleet.js";
import { classes, html } from "../lib/html.js";
import { openDisplay } from "../lib/url.js";
import { commonWords } from "../lib/words/first.js";
import { logWords } from "../lib/words/logs.js";
import { LoadFailed, Loading, Time } from "./parts.js";

/** @typedef {import("../lib/types").LogRow} LogRow */

/** @param {{row: LogRow, named: boolean}} props named: say whose line it is */
function Line({ row, named }) {
  void version.value; // its site may be known later
  const uuid = row.client_uuid;
  return html`<li class=${`log log-${row.level}`}>
    <span class="log-time">${h(Time, { at: row.received_at })}</span>
    <span class=${`level level-${row.level}`} title=${row.raw_level ?? ""}>${logWords.level[row.level] ?? row.level}
    </span>
    ${
      named &&
      uuid &&
      html`<button class="link log-who" onClick=${() => openDisplay(uuid)}>
        ${row.client_name || uuid.slice(0, 8)} <span class="quiet">${clients.get(uuid)?.site}</span></button>`
    }
    <span class="log-message">${row.logger && html`<span class="quiet">${row.logger}: </span>`}${row.message}
      ${row.truncated && html` <span class="tag">${logWords.cut}</span>`}</span>
  </li>`;
}

/** @param {{list: import("../lib/pages.js").Paged<LogRow>, named: boolean, empty: string}} props */
export function LogList({ list, named, empty }) {
  const { items } = list;
  if (!items)
    return list.failed
      ? h(LoadFailed, { text: logWords.failed, why: list.why, retry: list.reload })
      : h(Loading, { rows: 3 });
  return html`<ol class=${classes("logs", named && "named")} aria-busy=${list.busy}>${items.map((row) => h(Line, { key: row.id, row, named }))}</ol>
    ${items.length === 0 && html`<p class="note">${empty}</p>`}
    ${list.failed && h(LoadFailed, { text: logWords.failed, why: list.why, retry: list.reload })}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }`;
}
