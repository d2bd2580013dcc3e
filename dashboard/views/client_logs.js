// @ts-check
/** The logs of one display: by level, by text, newest first, page by page. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { logsOf } from "../lib/api.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { poll } from "../lib/poll.js";
import { S } from "../lib/strings.js";
import { go, param } from "../lib/url.js";
import { LogList } from "./log_list.js";

/** @typedef {import("../lib/types").LogRow} LogRow */
/** @typedef {import("../lib/types").Level} Level */

/** @type {Level[]} */
const LEVELS = ["critical", "error", "warning", "info", "debug"];
const PAGE = 50;
const LOOK_EVERY = 5_000;
const level = param("level");
const text = param("lq");

const chosenLevels = () => level.value.split(",").filter(Boolean);

/** @param {Level} word */
function toggle(word) {
  const on = new Set(chosenLevels());
  if (!on.delete(word)) on.add(word);
  go({ level: LEVELS.filter((known) => on.has(known)).join(",") }, { replace: true });
}

function Chips() {
  const on = new Set(chosenLevels());
  return html`<div class="chips" role="group" aria-label=${S.logs.levels}>
    ${LEVELS.map((word) => html`<button key=${word} aria-pressed=${on.has(word)} class=${classes("chip", `level-${word}`, on.has(word) && "on")} onClick=${() => toggle(word)}>${S.logs.level[word]}</button>`)}
  </div>`;
}

/** How many lines have come since the list was loaded. @param {string} uuid @param {string} about @param {LogRow[] | null} items */
function useNewer(uuid, about, items) {
  const [newer, setNewer] = useState(0);
  useEffect(() => {
    setNewer(0);
    if (!items) return undefined;
    const known = new Set(items.map((row) => row.id));
    const polling = poll(async (abort) => {
      const page = await logsOf(uuid, { level: chosenLevels(), q: text.value, limit: PAGE }, abort);
      const first = page.items.findIndex((row) => known.has(row.id));
      setNewer(first < 0 ? page.items.length : first);
    }, () => LOOK_EVERY);
    return polling.stop;
  }, [about, items]);
  return newer;
}

/** @param {{uuid: string}} props */
export function ClientLogs({ uuid }) {
  const about = `${uuid}|${level.value}|${text.value}`;
  const list = usePages(about, (cursor, abort) => logsOf(uuid, { level: chosenLevels(), q: text.value, cursor, limit: PAGE }, abort));
  const newer = useNewer(uuid, about, list.items);
  /** @param {InputEvent} event */
  const type = (event) => go({ lq: /** @type {HTMLInputElement} */ (event.currentTarget).value }, { replace: true });
  return html`<div class="log-tools">${h(Chips, {})}
      <input type="search" class="search" aria-label=${S.logs.search} placeholder=${S.logs.search} value=${text.value} onInput=${type} /></div>
    <p class="newer" role="status">${newer > 0 && html`<button class="link" onClick=${list.reload}>${S.logs.newer(newer)}</button>`}</p>
    ${h(LogList, { list, named: false, empty: S.logs.none })}`;
}
