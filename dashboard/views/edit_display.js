/** The dialogs that write what people know of displays: of one its name, site, tags and notes; of many site and tags. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { changeClient, changeClients } from "../lib/api/enrolment.js";
import { clients, refresh } from "../lib/fleet.js";
import { siteNames } from "../lib/sites.js";
import { nameAndSite } from "../lib/format.js";
import { html } from "../lib/html.js";
import { commonWords } from "../lib/words/common.js";
import { editWords } from "../lib/words/edit.js";
import { FormDialog } from "./form_dialog.js";
import { Dialog } from "./dialog.js";

/** @typedef {import("../lib/types").Client} Client */

/** @param {FormData} form @param {string} name */
const text = (form, name) => String(form.get(name) ?? "").trim();

/** @param {FormData} form @param {string} name */
const tagsOf = (form, name) => [
  ...new Set(
    text(form, name)
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];

/** The sites that there are, for a field of free text. */
function Sites() {
  const sites = siteNames();
  return html`<datalist id="known-sites">${sites.map((site) => html`<option key=${site} value=${site} />`)}</datalist>`;
}

/** @param {{client: Client, close: () => void}} props */
export function EditDisplay({ client, close }) {
  /** @param {FormData} form */
  const act = async (form) => {
    const facts = { name: text(form, "name"), site: text(form, "site"), tags: tagsOf(form, "tags") };
    await changeClient(client.uuid, { ...facts, notes: text(form, "notes") });
    refresh();
  };
  const children = html`
    <label>${editWords.name}<input name="name" maxlength="200" autocomplete="off" autofocus
        defaultValue=${client.name} /></label>
    <label>${editWords.site}<input name="site" maxlength="100" autocomplete="off" list="known-sites"
        defaultValue=${client.site ?? ""} /></label>
    <label>${editWords.tags}<input name="tags" autocomplete="off" defaultValue=${(client.tags ?? []).join(", ")} />
    </label>
    <label>${editWords.notes}<textarea name="notes" maxlength="4000" rows="4" defaultValue=${client.notes ?? ""}>
      </textarea></label>${h(Sites, {})}`;
  return h(FormDialog, { title: editWords.title, go: editWords.go, act, done: close, close, children });
}

/** @param {{uuids: string[], close: () => void}} props */
export function EditMany({ uuids, close }) {
  const [left, setLeft] = useState(/** @type {string[]} */ ([]));
  /** @param {FormData} form */
  const act = async (form) => {
    const move = form.get("move") !== null;
    const tags = { add_tags: tagsOf(form, "add"), remove_tags: tagsOf(form, "remove") };
    const changed = await changeClients({ clients: uuids, ...(move && { site: text(form, "site") }), ...tags });
    refresh();
    return changed.left;
  };
  /** @param {string[]} notWritten */
  const done = (notWritten) => (notWritten.length ? setLeft(notWritten) : close());
  if (left.length) {
    const told = html`<p role="status">${editWords.left(left.map(nameOfUuid))}</p>
      <div class="dialog-foot"><button class="primary" onClick=${close}>${commonWords.close}</button></div>`;
    return h(Dialog, { title: editWords.manyTitle, onClose: close, children: told });
  }
  const children = html`<p>${editWords.many(uuids.length)}</p>
    <label class="check"><input type="checkbox" name="move" />${editWords.move}</label>
    <label>${editWords.site}<input name="site" maxlength="100" autocomplete="off" list="known-sites" /></label>
    <label>${editWords.add}<input name="add" autocomplete="off" /></label>
    <label>${editWords.remove}<input name="remove" autocomplete="off" /></label>${h(Sites, {})}`;
  return h(FormDialog, { title: editWords.manyTitle, go: editWords.go, act, done, close, children });
}

/** @param {string} uuid */
function nameOfUuid(uuid) {
  const client = clients.get(uuid);
  return client ? nameAndSite(client) : uuid.slice(0, 8);
}
