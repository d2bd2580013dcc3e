/** The audit log: who changed what, newest first. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { listAudit } from "../lib/api/audit.js";
import { clients, version } from "../lib/fleet.js";
import { person } from "../lib/format.js";
import { html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { auditWords } from "../lib/words/audit.js";
import { actionWords, commonWords } from "../lib/words/first.js";
import { ListState } from "./list_state.js";
import { NameButton, Time } from "./parts.js";

/** The actor or the target of a change: a display by its name, which opens it; anything else as it is called. */
function Called(/** @type {{text: string}} */ { text }) {
  void version.value;
  const client = clients.get(text.replace(/^display:/, ""));
  return client ? h(NameButton, { client }) : html`${auditWords.actors[text] ?? person(text)}`;
}

/** @param {string} action */
function did(action) {
  const sent = action.replace(/^command\./, "");
  return (
    auditWords.did[action.replace(".", "_")] ??
    (sent in actionWords ? auditWords.sent({ action: actionWords[sent] ?? sent }) : action)
  );
}

/** @param {unknown} value */
const shown = (value) =>
  Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value);

/** @param {{entry: import("../lib/types").AuditEntry}} props */
function Row({ entry }) {
  const { actor, action, target } = entry;
  const details = Object.entries(entry.details)
    .filter(([, value]) => value !== null && value !== "")
    .map(([key, value]) => `${auditWords.details[key] ?? key.replaceAll("_", " ")}: ${shown(value)}`);
  return html`<li class="audit">
    <span class="quiet">${h(Time, { at: entry.at })}</span>
    <span class="audit-words" title=${`${actor} ${action} ${target}`}><strong>${h(Called, { text: actor })}</strong>
      ${" "}${did(action)} ${actor !== target && actor !== `display:${target}` && h(Called, { text: target })}</span>
    <span class="audit-target quiet">${details.join(" · ")}</span>
    <span>${auditWords.result[entry.result] ?? entry.result}</span>
  </li>`;
}

export function Audit() {
  const [filter, setFilter] = useState({ actor: "", action: "", target: "" });
  const list = usePages(JSON.stringify(filter), (cursor, abort) => listAudit({ ...filter, cursor }, abort));
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    /** @param {string} name */
    const text = (name) => String(form.get(name)).trim();
    setFilter({ actor: text("actor"), action: text("action"), target: text("target") });
  };
  return html`<section class="card settings-card" aria-labelledby="audit-title">
    <div><h2 id="audit-title">${auditWords.title}</h2><p class="quiet">${auditWords.lead}</p></div>
    <form class="settings-form" onSubmit=${submit}>
      ${
        /** @type {const} */ (["actor", "action", "target"]).map(
          (name) => html`<label key=${name}>${auditWords[name]}
            <input name=${name} maxlength="300" autocomplete="off" /></label>`,
        )
      }
      <button class="plain">${auditWords.filter}</button>
    </form>
    ${h(ListState, { list, failed: auditWords.failed, rows: 4 })}
    ${
      list.items &&
      html`<ul aria-busy=${list.busy}>${list.items.map((entry) => h(Row, { key: entry.id, entry }))}
      </ul>`
    }
    ${list.items?.length === 0 && html`<p class="quiet">${auditWords.none}</p>`}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }
  </section>`;
}
