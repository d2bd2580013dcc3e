/** Notification channels (admins), and where snoozes are. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import * as api from "../lib/api/notifications.js";
import { serviceOf } from "../lib/channel_address.js";
import { classes, html } from "../lib/html.js";
import { listed, ranged } from "../lib/lists.js";
import { usePages } from "../lib/pages.js";
import { mayAdminister } from "../lib/session.js";
import { NOT_TRIED, trialWords } from "../lib/trials.js";
import { addressWords } from "../lib/words/channel_address.js";
import { commonWords } from "../lib/words/first.js";
import { notificationWords } from "../lib/words/notifications.js";
import { wordsOf } from "../lib/problems.js";
import { weekdayWords } from "../lib/words/weekdays.js";
import { EmptySites } from "./empty_sites.js";
import { ListState } from "./list_state.js";
import { ChannelDialog, History, RemoveChannel } from "./notification_dialogs.js";
import { Age } from "./parts.js";
import { QuietLink } from "./quiet_link.js";

/** @typedef {import("../lib/openapi").NotificationChannel} Channel */
/** @typedef {"edit" | "history" | "remove"} Question */
/** @typedef {{question: Question, channel: Channel}} Asked */

/** When it tells, in a few words. @param {Channel} channel */
function when({ hours }) {
  if (!hours) return notificationWords.allHours;
  const days = listed(hours.weekdays.map((day) => weekdayWords[day] ?? day));
  return `${days} ${ranged(hours.begin, hours.end)} (${hours.time_zone})`;
}

/** @param {{channel: Channel}} props */
function Facts({ channel }) {
  const how = [addressWords.services[serviceOf(channel)], channel.address, channel.signed && notificationWords.signed]
    .filter(Boolean)
    .join(" · ");
  const seconds = channel.delay_seconds;
  const what = [
    seconds < 120
      ? notificationWords.afterSeconds({ n: seconds })
      : notificationWords.afterMinutes({ n: Math.round(seconds / 60) }),
    (channel.sites && listed(channel.sites)) ?? notificationWords.allSites,
    when(channel),
  ].join(" · ");
  const at = channel.last_delivered_at;
  return html`<span class="quiet">${how}</span><span class="quiet">${what}</span>
    ${h(EmptySites, { sites: channel.empty_sites })}
    <span class="quiet">
      ${at ? [`${notificationWords.delivered} `, h(Age, { at })] : notificationWords.neverDelivered}</span>
    ${
      channel.last_error &&
      html`<span class="cause">${notificationWords.lastFailed({ words: channel.last_error })} 
        ${" ("}${h(Age, { at: channel.last_failed_at })})</span>`
    }`;
}

/**
 * @param {{channel: Channel, ask: (asked: Asked) => void, act: (what: Promise<unknown>) => void, test: () => void}}
 *   props
 */
function Menu({ channel, ask, act, test }) {
  /** The menu closes with what was chosen, and gets the focus back when that is over. @param {() => void} next */
  const choose = (next) => (/** @type {MouseEvent} */ event) => {
    const menu = /** @type {HTMLElement} */ (event.currentTarget).closest("details");
    menu?.removeAttribute("open");
    menu?.querySelector("summary")?.focus();
    next();
  };
  /** @param {string} word @param {() => void} next @param {string} [look] */
  const item = (word, next, look = "plain") =>
    html`<button class=${look} key=${word} onClick=${choose(next)}>${word}</button>`;
  /** @param {Question} question */
  const asks = (question) => () => ask({ question, channel });
  const turn = () => act(api.changeChannel(channel.id, { enabled: !channel.enabled }));
  return html`<details class="more-actions"><summary class="button icon"
      aria-label=${notificationWords.moreOf({ name: channel.name })}>⋯</summary>
    <div class="menu">${item(notificationWords.test, test)}${item(notificationWords.edit, asks("edit"))}
      ${item(notificationWords.history, asks("history"))}
      ${item(channel.enabled ? notificationWords.disable : notificationWords.enable, turn)}
      ${item(notificationWords.remove, asks("remove"), "danger")}</div></details>`;
}

/** @param {{channel: Channel, ask: (asked: Asked) => void, changed: () => void}} props */
function ChannelRow({ channel, ask, changed }) {
  const [said, setSaid] = useState(NOT_TRIED);
  /** @param {unknown} error */
  const refused = (error) => setSaid({ words: () => wordsOf(error), bad: true });
  /** @param {Promise<unknown>} what */
  const act = (what) => void what.then(changed, refused);
  const test = () => {
    setSaid({ words: () => notificationWords.testing, bad: false });
    const tell = (/** @type {import("../lib/openapi").ChannelTest} */ result) => {
      setSaid({ words: () => trialWords(result), bad: !result.delivered });
      changed();
    };
    api.testChannel(channel.id).then(tell, refused);
  };
  return html`<li class="token">
    <span class=${classes("token-body", !channel.enabled && "quiet")}><strong>${channel.name}</strong>
      ${h(Facts, { channel })}
      <span class=${said.bad ? "cause" : "done"} role="status">${said.words()}</span></span>
    ${!channel.enabled && html`<span class="tag">${notificationWords.off}</span>`}
    ${h(Menu, { channel, ask, act, test })}
  </li>`;
}

function Channels() {
  const list = usePages("channels", (cursor, abort) => api.listChannels(cursor, abort));
  const [adding, setAdding] = useState(false);
  const [asked, setAsked] = useState(/** @type {Asked | null} */ (null));
  const close = () => {
    setAdding(false);
    setAsked(null);
  };
  const done = () => {
    close();
    list.reload();
  };
  return html`<section class="card settings-card" aria-labelledby="channels-title">
    <div><div class="log-head"><h2 id="channels-title">${notificationWords.title}</h2>
        <button class="plain" onClick=${() => setAdding(true)}>${notificationWords.add}</button></div>
      <p class="quiet">${notificationWords.lead}</p></div>
    ${h(ListState, { list, failed: notificationWords.failed })}
    ${
      list.items &&
      html`<ul>
        ${list.items.map((channel) => h(ChannelRow, { key: channel.id, channel, ask: setAsked, changed: list.reload }))}
      </ul>`
    }
    ${list.items?.length === 0 && html`<p class="quiet">${notificationWords.none}</p>`}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }
    ${adding && h(ChannelDialog, { channel: null, close, done })}
    ${asked?.question === "edit" && h(ChannelDialog, { channel: asked.channel, close, done })}
    ${asked?.question === "remove" && h(RemoveChannel, { channel: asked.channel, close, done })}
    ${asked?.question === "history" && h(History, { channel: asked.channel, close })}
  </section>`;
}

export function Notifications() {
  return html`${mayAdminister.value && h(Channels, {})}
    ${h(QuietLink, { text: notificationWords.snoozes })}`;
}
