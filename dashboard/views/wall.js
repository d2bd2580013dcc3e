/** The page for a screen in the office: every site with a dot for each display, and what is wrong, in large type. */
import { h } from "../vendor/preact.js";
import { useEffect } from "../vendor/hooks.js";
import { causes } from "../lib/causes.js";
import { now } from "../lib/clock.js";
import { clients, overview, places, updatedAt, updating, version } from "../lib/fleet.js";
import { exact, number, shortTime } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { shopsOf } from "../lib/shops.js";
import { watchUnsteady } from "../lib/unsteady.js";
import { goToView } from "../lib/url.js";
import { causeWords, failureWords } from "../lib/words/trouble.js";
import { bannerWords } from "../lib/words/banners.js";
import { frameWords, shopWords, statusWords } from "../lib/words/first.js";
import { largeWords } from "../lib/words/large.js";
import { wallWords } from "../lib/words/wall.js";
import { how, placeOf, unwellIn } from "./causes.js";
import { Dots } from "./shops.js";

const CAUSES = 4;
const SHOPS = 60; // of a large fleet, and only those with trouble
/** @type {import("../lib/types").Status[]} */
const STATES = ["running", "crashed", "stale"];

function Counts() {
  const counts = overview.value?.counts;
  if (!counts) return null;
  return html`<ul class="wall-counts">${STATES.map((word) => {
    const count = word === "running" ? counts.running + counts.late : counts[word];
    return html`<li key=${word} class=${classes(`status-${word}`, count === 0 && "zero")}><strong>${number(count)}</strong>
      ${statusWords[word]}</li>`;
  })}</ul>`;
}

/** What is wrong, each a line; of old data and a silent bridge nothing but that. */
function Wrong() {
  const at = updatedAt.value;
  const bridge = overview.value?.bridge;
  if (at && !updating.value)
    return html`<p class="wall-wrong" role="alert">${bannerWords.offline({ time: exact(at) })}</p>`;
  if (bridge?.state === "silent") return html`<p class="wall-wrong" role="alert">${wallWords.bridge}</p>`;
  const { service_failed: failed = 0, service_mended: mended = 0 } = overview.value?.counts ?? {};
  return html`<ul>
    ${causes.value.slice(0, CAUSES).map(
      (cause) => html`<li class="wall-wrong" key=${cause.incident.id}>${placeOf(cause)}:
        ${" "}${shopWords.are({ how: how(cause), n: unwellIn(cause), all_n: Math.max(cause.incident.members, unwellIn(cause)) })}
        ${" "}${causeWords.since} ${shortTime(cause.incident.began_at)}</li>`,
    )}
    ${failed > 0 && html`<li class="wall-wrong">${failureWords.title({ n: failed })}</li>`}
    ${mended > 0 && html`<li class="quiet wall-mended">${wallWords.mended({ n: mended })}</li>`}
  </ul>`;
}

export function Wall() {
  void version.value;
  useEffect(watchUnsteady, []);
  const shops = shopsOf(clients.values(), places.value);
  const shown = places.value ? shops.filter(({ unwell }) => unwell).slice(0, SHOPS) : shops;
  const left = shops.length - shown.length;
  const well = shops.filter(({ unwell }) => !unwell).length;
  return html`<main class="wall" id="main" tabindex="-1">
    <header><h1>${frameWords.product}</h1>${h(Counts, {})}
      <time class="wall-clock" datetime=${new Date(now.value).toISOString()}>
        ${shortTime(new Date(now.value).toISOString())}</time></header>
    ${h(Wrong, {})}
    <ul class="wall-shops">${shown.map(
      (
        shop,
      ) => html`<li key=${shop.site ?? ""} class=${classes("wall-shop", !shop.quiet && shop.unwell > 0 && "unwell")}>
        <strong>${shop.site ?? shopWords.none}</strong>
        <span>${shop.unwell ? shopWords.are({ how: shop.how, n: shop.unwell, all_n: shop.total }) : shopWords.well({ n: shop.total })}</span>
        ${shop.quiet && html`<span>${shop.quiet.word}</span>`}${h(Dots, { shop })}</li>`,
    )}</ul>
    ${left > well && html`<p>${largeWords.wall({ n: left - well })}</p>`}
    ${left > 0 && well > 0 && html`<p>${largeWords.wallWell({ n: well })}</p>`}
    <button class="link wall-leave" onClick=${() => goToView("fleet")}>${wallWords.leave}</button>
  </main>`;
}
