/** Access tokens of scripts and machines: issue, list, revoke. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import * as api from "../lib/api/tokens.js";
import { serverNow } from "../lib/clock.js";
import { allOf, person } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { commonWords, frameWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { roleWords } from "../lib/words/roles.js";
import { tokenWords } from "../lib/words/tokens.js";
import { CopyButton } from "./copy_button.js";
import { EmptySites } from "./empty_sites.js";
import { ListState } from "./list_state.js";
import { Dialog } from "./dialog.js";
import { Age, Time } from "./parts.js";
import { SitesField, sitesIn } from "./people_dialogs.js";

/** @typedef {import("../lib/types").Token} Token */

const DAY = 86_400_000;
const ROLES = ["viewer", "operator", "admin"];
const EXPIRY = [30, 90, 365, 0]; // days; 0: never

/** @param {Token} token */
function hasEnded(token) {
  return token.revoked_at !== null || (token.expires_at !== null && Date.parse(token.expires_at) <= serverNow());
}

/** @param {{changed: () => void}} props */
function Issue({ changed }) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  const [issued, setIssued] = useState(/** @type {import("../lib/types").IssuedToken | null} */ (null));
  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    const element = /** @type {HTMLFormElement} */ (event.currentTarget);
    const form = new FormData(element);
    const days = Number(form.get("days"));
    setBusy(true);
    setFailed("");
    try {
      const expires_at = days ? new Date(serverNow() + days * DAY).toISOString() : null;
      const name = String(form.get("name")).trim();
      const role = String(form.get("role"));
      setIssued(await api.issueToken({ name, role, sites: sitesIn(form), expires_at }));
      element.reset();
      changed();
    } catch (error) {
      setFailed(wordsOf(error));
    }
    setBusy(false);
  }
  return html`<form class="connect" onSubmit=${submit}><div class="settings-form">
      <label>${tokenWords.name}<input name="name" required maxlength="200" autocomplete="off" /></label>
      <label>${tokenWords.role}<select name="role">
          ${ROLES.map((role) => html`<option key=${role} value=${role}>${roleWords[role]}</option>`)}</select></label>
      <label>${tokenWords.expires}<select name="days">
          ${EXPIRY.map((n) => html`<option key=${n} value=${n}>${tokenWords.expiry({ n })}</option>`)}</select>
      </label>
      </div>
      ${h(SitesField, { present: null, id: "token-sites-how" })}
      <div class="buttons"><button class="primary" disabled=${busy}>
          ${busy ? tokenWords.issuing : tokenWords.issue}</button></div>
    </form>
    <p class="form-error" role="alert">${failed}</p>
    ${
      issued &&
      html`<div class="issued" role="status"><strong>${tokenWords.issued}</strong>
        <span class="code"><code>${issued.token}</code>${h(CopyButton, { text: issued.token, label: tokenWords.copy })}
        </span></div>`
    }`;
}

/** @param {{token: Token, ask: (token: Token) => void}} props */
function Row({ token, ask }) {
  const ended = hasEnded(token);
  const { created_by: by, last_used_at: used, expires_at: ends } = token;
  return html`<li class=${classes("token", ended && "over")}>
    <span class="token-body"><strong>${token.name}</strong>
      <span class="quiet">
        ${h(Time, { at: token.created_at })} ${by === "service" ? tokenWords.byService : commonWords.by({ who: person(by) })}
        ${" · "}${used ? [`${tokenWords.lastUsed} `, h(Age, { at: used })] : tokenWords.neverUsed}
        ${token.sites && ` · ${frameWords.onlyFor({ sites: allOf(token.sites) })}`}
        ${" · "}${ends ? [`${tokenWords.ends} `, h(Time, { at: ends })] : tokenWords.noEnd}</span>
      ${!ended && h(EmptySites, { sites: token.empty_sites })}</span>
    <span class="tag">${frameWords.roles[token.role] ?? token.role}</span>
    ${
      ended
        ? html`<span class="tag">${token.revoked_at ? tokenWords.revoked : tokenWords.ended}</span>`
        : html`<button class="danger" aria-label=${tokenWords.revokeOf({ name: token.name })} onClick=${() => ask(token)}>
          ${tokenWords.revoke}</button>`
    }
  </li>`;
}

/** @param {{token: Token, close: () => void, changed: () => void}} props */
function Revoke({ token, close, changed }) {
  const [failed, setFailed] = useState("");
  const go = () =>
    api.revokeToken(token.id).then(
      () => {
        changed();
        close();
      },
      (error) => setFailed(wordsOf(error)),
    );
  const body = html`<p><strong>${token.name}</strong></p><p>${tokenWords.revokeWhy}</p>
    <p class="form-error" role="alert">${failed}</p>
    <div class="dialog-foot"><button class="plain" onClick=${close} autofocus>${commonWords.cancel}</button>
      <button class="danger" onClick=${go}>${tokenWords.revoke}</button></div>`;
  return h(Dialog, { title: tokenWords.revokeTitle, onClose: close, children: body });
}

export function Tokens() {
  const list = usePages("tokens", (cursor, abort) => api.listTokens(cursor, abort));
  const [asking, setAsking] = useState(/** @type {Token | null} */ (null));
  return html`<section class="card settings-card" aria-labelledby="tokens-title">
    <div><h2 id="tokens-title">${tokenWords.title}</h2><p class="quiet">${tokenWords.lead}</p></div>
    ${h(Issue, { changed: list.reload })}
    ${h(ListState, { list, failed: tokenWords.failed })}
    ${list.items && html`<ul>${list.items.map((token) => h(Row, { key: token.id, token, ask: setAsking }))}</ul>`}
    ${list.items?.length === 0 && html`<p class="quiet">${tokenWords.none}</p>`}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }
    ${asking && h(Revoke, { token: asking, close: () => setAsking(null), changed: list.reload })}
  </section>`;
}
