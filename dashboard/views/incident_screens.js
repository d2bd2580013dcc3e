/** What the screens of an incident's displays showed before they failed. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { screenshotsOfIncident, screenshotUrl } from "../lib/api/screenshots.js";
import { html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { mayOperate } from "../lib/session.js";
import { screenshotWords } from "../lib/words/screenshots.js";
import { Picture } from "./picture.js";
import { Age } from "./parts.js";

/** @typedef {import("../lib/openapi").Screenshot} Screenshot */

const PERIOD = 15_000;

/** @param {{details: import("../lib/types").IncidentDetails}} props */
export function IncidentScreens({ details }) {
  const [items, setItems] = useState(/** @type {Screenshot[]} */ ([]));
  useEffect(() => {
    if (!mayOperate.value) return undefined;
    return poll(
      async (abort) => setItems((await screenshotsOfIncident(details.id, abort)).items),
      () => PERIOD,
    ).stop;
  }, [details.id, mayOperate.value]);
  if (!items.length) return null;
  const names = new Map(details.displays.items.map((one) => [one.uuid, one.name]));
  /** @param {string} uuid */
  const nameOf = (uuid) => names.get(uuid) || uuid.slice(0, 8);
  const displays = [...new Set(items.map((one) => one.client_uuid))];
  return html`<h3>${screenshotWords.beforeFailures}</h3>${displays.map(
    (uuid) => html`<section key=${uuid} aria-label=${nameOf(uuid)}><p>${nameOf(uuid)}</p><div class="buttons">
      ${items
        .filter((one) => one.client_uuid === uuid)
        .map(
          (one) => html`<a key=${one.id} class="link" href=${screenshotUrl(one.id)} target="_blank">
            ${h(Picture, { one, name: nameOf(uuid), small: true })}
            <span class="quiet">${screenshotWords.taken} ${h(Age, { at: one.taken_at })}</span></a>`,
        )}</div></section>`,
  )}`;
}
