/** Who looks after a trouble: take it, take it over, leave a note, give it back. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { takeTrouble } from "../lib/api/failures.js";
import { refresh } from "../lib/fleet.js";
import { person, shortTime } from "../lib/format.js";
import { html } from "../lib/html.js";
import { mayOperate, principal } from "../lib/session.js";
import { wordsOf } from "../lib/problems.js";
import { takenWords } from "../lib/words/trouble.js";
import { lazy } from "./lazy.js";

const TakenNote = lazy(async () => (await import("./taken_note.js")).TakenNote, { bare: true });

/**
 * The first button stays: so does the keyboard.
 * @param {{path: string, name: string, trouble: Partial<import("../lib/openapi").HeldBy>, about?: object}} props
 */
export function Taken({ path, name, trouble, about }) {
  const [failed, setFailed] = useState("");
  const [writing, setWriting] = useState(false);
  const { taken_by: by, taken_at: at, note } = trouble;
  const mine = by === `user:${principal.value?.name}`;
  if (!by && !mayOperate.value) return null;
  /** @param {object | null} how */
  const ask = (how) => {
    setWriting(false);
    setFailed("");
    takeTrouble(path, how && { ...about, ...how })
      .catch((error) => setFailed(wordsOf(error)))
      .then(refresh);
  };
  const press = () => (mine ? setWriting(!writing) : ask(by ? { instead_of: by } : {}));
  const words = takenWords;
  const since = at ? shortTime(at) : "";
  return html`<div class=${by ? "taken" : "taken free"}>
    ${by && html`<span><strong>${mine ? words.mine({ since }) : words.theirs({ who: person(by), since })}</strong> ${note}</span>`}
    ${
      mayOperate.value &&
      html`<button class=${by ? "link" : "plain"} aria-label=${by ? null : words.takeOf({ name })} onClick=${press}>
        ${mine ? words.writeNote : by ? words.takeOver : words.take}</button>`
    }
    ${mine && html`<button class="link" onClick=${() => ask(null)}>${words.giveBack}</button>`}
    ${failed && html`<span role="alert">${failed}</span>`}
    ${mine && writing && h(TakenNote, { note: note ?? "", keep: (/** @type {string} */ text) => ask({ note: text }) })}
  </div>`;
}
