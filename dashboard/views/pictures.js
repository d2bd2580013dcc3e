/** The listed displays as pictures of their screens, each with its age. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { clients, updating, version } from "../lib/fleet.js";
import { nameOf } from "../lib/format.js";
import { html } from "../lib/html.js";
import { asked, askForPictures, isAwaited } from "../lib/new_pictures.js";
import { pictures } from "../lib/pictures.js";
import { rows } from "../lib/table.js";
import { openDisplay } from "../lib/url.js";
import { commonWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { screenshotWords } from "../lib/words/screenshots.js";
import { Age, StatusBadge } from "./parts.js";
import { Picture } from "./picture.js";
import { pictureCause } from "./stepper.js";

/** @typedef {import("../lib/types").Command} Command */

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
  const step = asked.value.get(uuid);
  return html`<li><button class="picture" onClick=${() => openDisplay(uuid)}>
      ${one ? h(Picture, { one, name: nameOf(client) }) : html`<span class="no-picture quiet">${none}</span>`}
      <span class="picture-foot"><span class="strong">${nameOf(client)}</span>${h(StatusBadge, { status: client.status })}</span>
      <span class="picture-foot quiet"><span>${client.site}</span>${one && html`<span>${h(Age, { at: one.taken_at })}</span>`}</span>
      ${step && step.step !== "came" && html`<span class="picture-foot quiet">${stepWords(step)}</span>`}
    </button></li>`;
}

/** What became of a picture that did not come. @param {import("../lib/new_pictures.js").Asked} asked */
function stepWords({ step, why }) {
  if (step !== "failed") return screenshotWords.step[step];
  return why && typeof why === "object" && "state" in why ? pictureCause(/** @type {Command} */ (why)) : wordsOf(why);
}

/** New pictures of the displays that are shown, and how many came. @param {{uuids: string[]}} props */
function NewPictures({ uuids }) {
  const busy = uuids.some(isAwaited);
  return html`<div class="picture-bar">
    <button class="plain" disabled=${busy || !updating.value} title=${updating.value ? "" : commonWords.outOfDate}
      onClick=${() => askForPictures(uuids)}>${screenshotWords.newPictures}</button>
    <p role="status" aria-busy=${busy}>${progressOf(uuids)}</p></div>`;
}

/** One sentence whose numbers add up; empty where none of them was asked. @param {string[]} uuids */
function progressOf(uuids) {
  const steps = uuids.flatMap((uuid) => asked.value.get(uuid)?.step ?? []);
  const count = (/** @type {string} */ step) => steps.filter((one) => one === step).length;
  if (!steps.length) return "";
  const rest = Object.entries(screenshotWords.part).flatMap(([step, label]) => {
    const n = count(step);
    return n ? label({ n }) : [];
  });
  const came = screenshotWords.came({ n: count("came"), all_n: steps.length });
  return screenshotWords.progress({ words: rest.reduce((first, next) => screenshotWords.and({ first, next }), came) });
}

export function Pictures() {
  const [shown, setShown] = useState(SHOWN);
  const list = rows.value;
  const uuids = list.slice(0, shown);
  return html`${uuids.length > 0 && h(NewPictures, { uuids })}
    <ul class="pictures" aria-label=${screenshotWords.wall}>
      ${uuids.map((uuid) => h(Card, { key: uuid, uuid }))}</ul>
    ${list.length > shown && html`<button class="plain more" onClick=${() => setShown(shown + SHOWN)}>${commonWords.more}</button>`}`;
}
