/** The logs of the display in the panel, and how to make it log more for a while. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { setLogLevel } from "../lib/api/logs.js";
import { exact } from "../lib/format.js";
import { html } from "../lib/html.js";
import { mayOperate } from "../lib/session.js";
import { param } from "../lib/url.js";
import { logWords } from "../lib/words/logs.js";
import { wordsOf } from "../lib/problems.js";
import { LogView } from "./log_view.js";

/** @typedef {import("../lib/types").Client} Client */

const COUNTED_HOURS = 24;
const MINUTES = 15;
const levels = param("level");
const text = param("lq");

/** @param {{client: Client}} props */
function MoreDetail({ client }) {
  const [said, setSaid] = useState({ text: "", bad: false });
  async function tell() {
    setSaid({ text: logWords.debugTelling, bad: false });
    try {
      const { until } = await setLogLevel(client.uuid, "debug", MINUTES);
      setSaid({ text: logWords.debugTold({ time: exact(until) }), bad: false });
    } catch (error) {
      setSaid({ text: wordsOf(error), bad: true });
    }
  }
  return html`<p class="log-level quiet"><span>${client.log_level && logWords.levelNow({ word: logWords.level[client.log_level] ?? client.log_level })}</span>
    ${mayOperate.value && html`<button class="link" onClick=${tell}>${logWords.debugFor({ n: MINUTES })}</button>`}
    <span class=${said.bad ? "cause" : ""} role="status">${said.text}</span></p>`;
}

/** @param {{client: Client}} props */
export function ClientLogs({ client }) {
  return html`${h(MoreDetail, { client, key: client.uuid })}
    ${h(LogView, {
      uuid: client.uuid,
      hours: COUNTED_HOURS,
      all: true,
      levels: levels.value,
      text: text.value,
      levelKey: "level",
      textKey: "lq",
    })}`;
}
