/** The dialogs that write what people know of displays: of one its name, site, tags and notes; of many site and tags. */
import { listed } from "../lib/lists.js";
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { changeClient, changeClients } from "../lib/api/enrolment.js";
import { clients, refresh } from "../lib/fleet.js";
import { siteNames } from "../lib/sites.js";
import { nameAndSite } from "../lib/format.js";
import { html } from "../lib/html.js";
import { commonWords } from "../lib/words/first.js";
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

/** What the answer said that people did not ask for. @param {{title: string, said: string[], close: () => void}} props */
function Said({ title, said, close }) {
  const children = html`<div role="status">${said.map((one) => html`<p key=${one}>${one}</p>`)}</div>
    <div class="dialog-foot"><button class="primary" onClick=${close}>${commonWords.close}</button></div>`;
  return h(Dialog, { title, onClose: close, children });
}

/** @param {{client: Client, close: () => void}} props */
export function EditDisplay({ client, close }) {
  const [woken, setWoken] = useState(false);
  /** @param {FormData} form */
  const act = async (form) => {
    const facts = { name: text(form, "name"), site: text(form, "site"), tags: tagsOf(form, "tags") };
    const changed = await changeClient(client.uuid, { ...facts, notes: text(form, "notes") });
    refresh();
    return changed.no_longer_quiet;
  };
  /** @param {boolean} isWoken */
  const done = (isWoken) => (isWoken ? setWoken(true) : close());
  if (woken)
    return h(Said, { title: editWords.title, said: [editWords.woken({ names: nameOfUuid(client.uuid) })], close });
  const children = html`
    <label>${editWords.name}<input name="name" maxlength="200" autocomplete="off" autofocus
        defaultValue=${client.name} /></label>
    <label>${editWords.site}<input name="site" maxlength="100" autocomplete="off" list="known-sites"
        defaultValue=${client.site ?? ""} /></label>
    <label>${editWords.tags}<input name="tags" autocomplete="off" defaultValue=${(client.tags ?? []).join(", ")} />
    </label>
    <label>${editWords.notes}<textarea name="notes" maxlength="4000" rows="4" defaultValue=${client.notes ?? ""}>
      </textarea></label>${h(Sites, {})}`;
  return h(FormDialog, { title: editWords.title, go: editWords.go, act, done, close, children });
}

/** @param {string[]} uuids */
const firstOf = (uuids) => listed(uuids.slice(0, 5).map(nameOfUuid));

/** @param {{uuids: string[], close: () => void}} props */
export function EditMany({ uuids, close }) {
  const [said, setSaid] = useState(/** @type {string[]} */ ([]));
  /** @param {FormData} form */
  const act = async (form) => {
    const move = form.get("move") !== null;
    const tags = { add_tags: tagsOf(form, "add"), remove_tags: tagsOf(form, "remove") };
    const changed = await changeClients({ clients: uuids, ...(move && { site: text(form, "site") }), ...tags });
    refresh();
    return changed;
  };
  /** @param {import("../lib/openapi").WrittenClients} changed */
  const done = ({ left, no_longer_quiet: woken }) => {
    const told = [
      ...(left.length ? [editWords.left({ names: firstOf(left) })] : []),
      ...(woken.length ? [editWords.woken({ names: firstOf(woken) })] : []),
    ];
    if (told.length) setSaid(told);
    else close();
  };
  if (said.length) return h(Said, { title: editWords.manyTitle, said, close });
  const children = html`<p>${editWords.many({ n: uuids.length })}</p>
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
