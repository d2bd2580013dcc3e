/** The listed displays as pictures of their screens, each with its age. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { clients, version } from "../lib/fleet.js";
import { nameOf } from "../lib/format.js";
import { html } from "../lib/html.js";
import { pictures } from "../lib/pictures.js";
import { rows } from "../lib/table.js";
import { openDisplay } from "../lib/url.js";
import { commonWords } from "../lib/words/common.js";
import { screenshotWords } from "../lib/words/screenshots.js";
import { Age, StatusBadge } from "./parts.js";
import { Picture } from "./picture.js";

const SHOWN = 60; // before somebody asks for more

/** @param {{uuid: string}} props */
function Card({ uuid }) {
  void version.value;
  void pictures.answers.value;
  useEffect(() => pictures.show(uuid), [uuid]);
  const client = clients.get(uuid);
  if (!client) return null;
  const one = pictures.of(uuid);
  const none = one === null && screenshotWords.none;
  return html`<li><button class="picture" onClick=${() => openDisplay(uuid)}>
      ${one ? h(Picture, { one, name: nameOf(client) }) : html`<span class="no-picture quiet">${none}</span>`}
      <span class="picture-foot"><span class="strong">${nameOf(client)}</span>${h(StatusBadge, { status: client.status })}</span>
      <span class="picture-foot quiet"><span>${client.site}</span>${one && html`<span>${h(Age, { at: one.taken_at })}</span>`}</span>
    </button></li>`;
}

export function Pictures() {
  const [shown, setShown] = useState(SHOWN);
  const list = rows.value;
  return html`<ul class="pictures" aria-label=${screenshotWords.wall}>
      ${list.slice(0, shown).map((uuid) => h(Card, { key: uuid, uuid }))}</ul>
    ${list.length > shown && html`<button class="plain more" onClick=${() => setShown(shown + SHOWN)}>${commonWords.more}</button>`}`;
}
