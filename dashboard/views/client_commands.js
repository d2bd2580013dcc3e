/** The commands that one display was sent, newest first. */
import { h } from "../vendor/preact.js";
import { useEffect } from "../vendor/hooks.js";
import { commandsOf } from "../lib/api/commands.js";
import { orderOf } from "../lib/commands.js";
import { person } from "../lib/format.js";
import { html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { commandWords } from "../lib/words/commands.js";
import { actionWords, commonWords, stepWords } from "../lib/words/first.js";
import { ListState } from "./list_state.js";
import { Time } from "./parts.js";
import { causeOf } from "./stepper.js";

/** @typedef {import("../lib/types").Command} Command */

/** @param {{command: Command}} props */
function Row({ command }) {
  const who = commandWords.by({ who: person(command.requested_by) });
  return html`<li class="history-row">
    <span class="history-what"><strong>${actionWords[command.action] ?? command.action}</strong>
      <span class=${`tag outcome-${command.state}`}>${stepWords[command.state] ?? command.state}</span></span>
    <span class="quiet">${h(Time, { at: command.created_at })} · ${who}</span>
    ${causeOf(command) && html`<span>${causeOf(command)}</span>`}
    ${command.reason && html`<span class="quiet">${command.reason}</span>`}
  </li>`;
}

/** @param {{uuid: string}} props */
export function ClientCommands({ uuid }) {
  const list = usePages(uuid, (cursor) => commandsOf(uuid, cursor));
  const step = ["", "screenshot"].map((action) => orderOf(uuid, action)?.command?.state ?? "").join();
  useEffect(() => {
    if (step !== ",") list.reload();
  }, [step]);
  const state = h(ListState, { list, failed: commandWords.failed, rows: 3 });
  if (!list.items) return state;
  if (!list.items.length) return html`<p class="note">${commandWords.none}</p>`;
  return html`${state}<ol class="history">${list.items.map((command) => h(Row, { key: command.id, command }))}</ol>
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }`;
}
