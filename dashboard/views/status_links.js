/** Links to the public status pages of sites: make, list, end. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import * as api from "../lib/api/status_links.js";
import { version } from "../lib/fleet.js";
import { siteNames } from "../lib/sites.js";
import { person } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { commonWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { statusLinkWords as words } from "../lib/words/status_links.js";
import { CopyButton } from "./copy_button.js";
import { Dialog } from "./dialog.js";
import { EmptySites } from "./empty_sites.js";
import { ListState } from "./list_state.js";
import { Age, Time } from "./parts.js";

/** @typedef {import("../lib/openapi").StatusLink} StatusLink */

/** The address of the page. @param {string} secret */
const addressOf = (secret) => `${location.origin}/status.html#${secret}`;

function Sites() {
  void version.value;
  const sites = siteNames();
  return html`<label>${words.site}<select name="site" required>
      ${sites.map((site) => html`<option key=${site} value=${site}>${site}</option>`)}</select></label>`;
}

/** @param {{changed: () => void}} props */
function Make({ changed }) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  const [made, setMade] = useState("");
  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    const element = /** @type {HTMLFormElement} */ (event.currentTarget);
    const form = new FormData(element);
    setBusy(true);
    setFailed("");
    try {
      const wanted = { name: String(form.get("name")).trim(), site: String(form.get("site")) };
      setMade(addressOf((await api.makeStatusLink(wanted)).secret));
      element.reset();
      changed();
    } catch (error) {
      setFailed(wordsOf(error));
    }
    setBusy(false);
  }
  return html`<form class="settings-form" onSubmit=${submit}>
      <label>${words.name}<input name="name" required maxlength="200" autocomplete="off" /></label>${h(Sites, {})}
      <button class="primary" disabled=${busy}>${words.make}</button></form>
    <p class="form-error" role="alert">${failed}</p>
    ${
      made &&
      html`<div class="issued" role="status"><strong>${words.made}</strong>
        <span class="code"><code>${made}</code>${h(CopyButton, { text: made, label: words.copy })}</span></div>`
    }`;
}

/** @param {{link: StatusLink, ask: (link: StatusLink) => void}} props */
function Row({ link, ask }) {
  const { ended_at: ended, last_used_at: used } = link;
  return html`<li class=${classes("token", ended && "over")}>
    <span class="token-body"><strong>${link.name}</strong>
      <span class="quiet">${h(Time, { at: link.created_at })} ${commonWords.by({ who: person(link.created_by) })}
        ${" · "}${used ? [`${words.lastUsed} `, h(Age, { at: used })] : words.neverUsed}</span>
      ${!ended && h(EmptySites, { sites: link.empty_sites })}</span>
    <span class="tag">${link.site}</span>
    ${
      ended
        ? html`<span class="tag">${words.ended}</span>`
        : html`<button class="danger" aria-label=${words.endOf({ name: link.name })} onClick=${() => ask(link)}>${words.end}
          </button>`
    }</li>`;
}

/** @param {{link: StatusLink, close: () => void, changed: () => void}} props */
function End({ link, close, changed }) {
  const [failed, setFailed] = useState("");
  const go = () =>
    api.endStatusLink(link.id).then(
      () => {
        changed();
        close();
      },
      (error) => setFailed(wordsOf(error)),
    );
  const body = html`<p><strong>${link.name}</strong> (${link.site})</p><p>${words.endWhy}</p>
    <p class="form-error" role="alert">${failed}</p>
    <div class="dialog-foot"><button class="plain" onClick=${close} autofocus>${commonWords.cancel}</button>
      <button class="danger" onClick=${go}>${words.end}</button></div>`;
  return h(Dialog, { title: words.endTitle, onClose: close, children: body });
}

export function StatusLinks() {
  const list = usePages("status-links", (cursor, abort) => api.listStatusLinks(cursor, abort));
  const [asking, setAsking] = useState(/** @type {StatusLink | null} */ (null));
  return html`<section class="card settings-card" aria-labelledby="status-links-title">
    <div><h2 id="status-links-title">${words.title}</h2><p class="quiet">${words.lead}</p></div>
    ${h(Make, { changed: list.reload })}
    ${h(ListState, { list, failed: words.failed })}
    ${list.items && html`<ul>${list.items.map((link) => h(Row, { key: link.id, link, ask: setAsking }))}</ul>`}
    ${list.items?.length === 0 && html`<p class="quiet">${words.none}</p>`}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}</button>`
    }
    ${asking && h(End, { link: asking, close: () => setAsking(null), changed: list.reload })}
  </section>`;
}
