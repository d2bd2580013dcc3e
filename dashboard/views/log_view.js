/** The logs of one display: by level, by text, by time, newest first, with a live tail. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { logSummary, logsOf } from "../lib/api/logs.js";
import { serverNow } from "../lib/clock.js";
import { clients } from "../lib/fleet.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { poll } from "../lib/poll.js";
import { useTail } from "../lib/tail.js";
import { go } from "../lib/url.js";
import { number } from "../lib/format.js";
import { logWords } from "../lib/words/logs.js";
import { LogList } from "./log_list.js";
import { ExportButton } from "./parts.js";

/** @typedef {import("../lib/types").Level} Level */
/** @typedef {{levels: string, text: string, levelKey: string, textKey: string}} Narrowed */

/** @type {Level[]} */
const LEVELS = ["critical", "error", "warning", "info", "debug"];
const PAGE = 50;
const COUNT_EVERY = 15_000;

/** @param {string} text levels with commas between them */
const chosenOf = (text) => LEVELS.filter((word) => text.split(",").includes(word));

/** How many lines of each level there are. @param {string} uuid @param {number} hours */
function useCounts(uuid, hours) {
  const [counts, setCounts] = useState(/** @type {Record<string, number> | null} */ (null));
  useEffect(() => {
    const look = async (/** @type {AbortSignal} */ abort) => setCounts((await logSummary(hours, uuid, abort)).totals);
    return poll(look, () => COUNT_EVERY).stop;
  }, [uuid, hours]);
  return counts;
}

/** @param {{uuid: string, hours: number, chosen: Level[], choose: (levels: Level[]) => void}} props */
function Chips({ uuid, hours, chosen, choose }) {
  const counts = useCounts(uuid, hours);
  /** @param {Level} word */
  const toggle = (word) => choose(LEVELS.filter((level) => chosen.includes(level) !== (level === word)));
  return html`<div class="chips" role="group" aria-label=${logWords.levels}>
    ${LEVELS.map((word) => {
      const on = chosen.includes(word);
      const n = counts?.[word];
      return html`<button key=${word} aria-pressed=${on} class=${classes("chip", `level-${word}`, on && "on")}
        onClick=${() => toggle(word)}>
        ${logWords.level[word]}${n !== undefined && html` <span class="figure chip-count">${number(n)}</span>`}
      </button>`;
    })}
  </div>`;
}

/** @param {{tail: ReturnType<typeof useTail>}} props */
export function Follow({ tail }) {
  const { on, newer, setOn } = tail;
  const title = !on ? logWords.liveOff : newer > 0 ? logWords.livePaused : logWords.liveOn;
  return html`<button class=${classes("chip", "follow", on && "on")} aria-pressed=${on} title=${title}
    onClick=${() => setOn(!on)}>
    <span class=${classes("live-dot", on && !newer && "beats")} aria-hidden="true"></span>${logWords.live}</button>`;
}

/** @param {{tail: ReturnType<typeof useTail>, reload: () => void}} props */
export function Newer({ tail, reload }) {
  return html`<p class="newer" role="status">${
    tail.newer > 0 &&
    html`<button class="link" onClick=${reload}>
      ${logWords.newer({ n: tail.newer })}</button>`
  }</p>`;
}

/**
 * `levels` and `text` are values of the address, `levelKey` and `textKey` their keys in it: the panel and the page
 * behind it have keys of their own.
 * @param {{uuid: string, hours: number, all?: boolean} & Narrowed} props
 *   all: also what is older than `hours`, which then only the counts keep to
 */
export function LogView({ uuid, hours, all, levels, text, levelKey, textKey }) {
  const about = [uuid, hours, levels, text].join("|");
  const chosen = chosenOf(levels);
  const since = all ? null : new Date(serverNow() - hours * 3_600_000).toISOString();
  const filter = { level: chosen, q: text, since, limit: PAGE };
  const list = usePages(about, (cursor, abort) => logsOf(uuid, { ...filter, cursor }, abort));
  const tail = useTail(about, list, (abort) => logsOf(uuid, filter, abort));
  /** @param {InputEvent} event */
  const type = (event) =>
    go({ [textKey]: /** @type {HTMLInputElement} */ (event.currentTarget).value }, { replace: true });
  /** @param {Level[]} next */
  const choose = (next) => go({ [levelKey]: next.join(",") }, { replace: true });
  const of = { client_uuid: uuid, client_name: clients.get(uuid)?.name ?? "" };
  const save = async () =>
    (await import("../lib/exports.js")).saveLogs((cursor, limit) => logsOf(uuid, { ...filter, cursor, limit }), of);
  return html`<div class="log-tools">${h(Chips, { uuid, hours, chosen, choose })}
      <div class="log-find"><input type="search" class="search" aria-label=${logWords.search}
          placeholder=${logWords.search} value=${text} onInput=${type} />${h(Follow, { tail })}
        ${h(ExportButton, { save, title: logWords.csv })}</div></div>
    <div ref=${tail.top}></div>
    ${h(Newer, { tail, reload: list.reload })}
    ${h(LogList, { list, named: false, empty: logWords.none })}`;
}
