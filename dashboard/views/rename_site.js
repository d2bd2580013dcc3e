/** Renames a site with everything that names it, or makes two sites one. For admins of all sites. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { renameSite } from "../lib/api/sites.js";
import { refresh } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { mayAdminister, principal } from "../lib/session.js";
import { siteNames } from "../lib/sites.js";
import { go, param } from "../lib/url.js";
import { commonWords } from "../lib/words/first.js";
import { renameWords } from "../lib/words/rename_site.js";
import { Dialog } from "./dialog.js";
import { FormDialog } from "./form_dialog.js";

const chosen = param("site");

/** The button below the tiles, where a site is chosen. */
export function RenameLink() {
  const site = chosen.value;
  const [renamed, setRenamed] = useState("");
  if (!mayAdminister.value || principal.value?.sites) return null;
  return html`<button class="link" onClick=${() => setRenamed(site)}>${renameWords.link({ site })}</button>
    ${renamed && h(RenameSite, { site: renamed, close: () => setRenamed("") })}`;
}

/** @param {{site: string, close: () => void}} props */
function RenameSite({ site, close }) {
  const [to, setTo] = useState(site);
  const [people, setPeople] = useState(0);
  const name = to.normalize("NFC").trim().replace(/\s+/g, " ");
  const exists = name !== site && siteNames().includes(name);
  /** @param {FormData} form */
  const act = (form) => renameSite({ site, to: String(form.get("to")), merge: form.get("merge") !== null });
  /** @param {import("../lib/openapi").NewNameOfSite} renamed */
  const done = (renamed) => {
    refresh();
    go({ site: renamed.site });
    if (renamed.people_of_provider) setPeople(renamed.people_of_provider);
    else close();
  };
  if (people) {
    const told = html`<p role="status">${renameWords.atProvider({ n: people })}</p>
      <div class="dialog-foot"><button class="primary" onClick=${close}>${commonWords.close}</button></div>`;
    return h(Dialog, { title: renameWords.title({ site }), onClose: close, children: told });
  }
  const children = html`<p>${renameWords.how}</p>
    <label>${renameWords.to}<input name="to" required maxlength="100" autocomplete="off" autofocus value=${to}
        onInput=${(/** @type {any} */ { currentTarget }) => setTo(currentTarget.value)} /></label>
    ${
      exists &&
      html`<label class="check"><input type="checkbox" name="merge" required />${renameWords.merge({ site: name })}</label>`
    }`;
  return h(FormDialog, { title: renameWords.title({ site }), go: renameWords.go, act, done, close, children });
}
