/** Where one is signed in, and the way to end that. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import * as api from "../lib/api/account.js";
import { browserName } from "../lib/browser_name.js";
import { html } from "../lib/html.js";
import { ownSessionWords } from "../lib/words/own_sessions.js";
import { wordsOf } from "../lib/problems.js";
import { Age, Time } from "./parts.js";

/** @typedef {import("../lib/openapi").OwnSession} OwnSession */

/** @param {{session: OwnSession, end: (session: OwnSession) => void}} props */
function Row({ session, end }) {
  const address = session.address ?? ownSessionWords.nowhere;
  const name = session.browser ? browserName(session.browser) : ownSessionWords.someBrowser;
  return html`<li class="token">
    <span class="token-body"><strong title=${session.browser}>${name}</strong>
      <span class="quiet">
        ${address} · ${ownSessionWords.since} ${h(Time, { at: session.created_at })}
        ${` · ${ownSessionWords.used} `}${h(Age, { at: session.last_seen_at })}</span></span>
    ${
      session.is_this_one
        ? html`<span class="tag">${ownSessionWords.thisOne}
        </span>`
        : html`<button class="danger"
          aria-label=${ownSessionWords.endOf({ name, address })}
          onClick=${() => end(session)}>${ownSessionWords.end}</button>`
    }
  </li>`;
}

export function OwnSessions() {
  const [items, setItems] = useState(/** @type {OwnSession[]} */ ([]));
  const [failed, setFailed] = useState("");
  const look = () =>
    api.ownSessions().then(
      (answer) => {
        setItems(answer.items);
        setFailed("");
      },
      (error) => setFailed(wordsOf(error)),
    );
  useEffect(() => void look(), []);
  const end = (/** @type {OwnSession} */ session) =>
    void api.endOwnSession(session.id).then(look, (error) => setFailed(wordsOf(error)));
  return html`<h3 id="own-sessions">${ownSessionWords.title}</h3>
    <ul aria-labelledby="own-sessions">${items.map((session) => h(Row, { key: session.id, session, end }))}</ul>
    <p class="form-error" role="alert">${failed}</p>`;
}
