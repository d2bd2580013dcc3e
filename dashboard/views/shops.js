/** The sites as tiles with a dot for each display, and the tags. A tile filters the whole page. */
import { h } from "../vendor/preact.js";
import { useRef, useState } from "../vendor/hooks.js";
import { clients, places, version } from "../lib/fleet.js";
import { classes, html } from "../lib/html.js";
import { dotGrid, shopsOf } from "../lib/shops.js";
import { go, param } from "../lib/url.js";
import { shopWords } from "../lib/words/first.js";
import { lazy } from "./lazy.js";

/** @typedef {import("../lib/shops.js").Shop} Shop */

const Tags = lazy(async () => (await import("./tags.js")).Tags, { bare: true, small: true });
const RenameLink = lazy(async () => (await import("./rename_site.js")).RenameLink, { bare: true, small: true });
const SHOPS = 24; // at first
const DOTS = 60;
const IN_ROW = 15;
const STEP = 10; // pixels from one dot to the next
const site = param("site");
const nosite = param("nosite");

/** A dot for each display; an unwell one is a square; of a closed or held site they are hollow. @param {{shop: Shop}} props */
export function Dots({ shop }) {
  const groups = dotGrid(shop.dots, DOTS, IN_ROW);
  const height = STEP * Math.ceil(Math.min(shop.total, DOTS) / IN_ROW);
  /** @param {[number, number][]} places */
  const drawn = (places) => places.map(([x, y]) => `M${(x + 0.5) * STEP} ${(y + 0.5) * STEP}h0`).join("");
  return html`<svg class="dots" viewBox=${`0 0 ${STEP * IN_ROW} ${height}`} width=${STEP * IN_ROW} height=${height}
    aria-hidden="true" focusable="false">${groups.map(
      ({ dot, places }) => html`<path key=${dot} class=${`dot dot-${dot}`} d=${drawn(places)} />
        ${shop.quiet && html`<path class="dot hole" d=${drawn(places)} />`}`,
    )}</svg>`;
}

/** @param {{shop: Shop}} props */
function Tile({ shop }) {
  const on = shop.site === null ? nosite.value !== "" : site.value === shop.site;
  const toggle = () =>
    shop.site === null
      ? go({ nosite: on ? null : "1", site: null })
      : go({ site: on ? null : shop.site, nosite: null });
  const more = shop.total - DOTS;
  const { quiet } = shop;
  return html`<button class=${classes("shop", on && "on", !quiet && 2 * shop.unwell >= shop.total && "dark")} aria-pressed=${on} onClick=${toggle}>
    <span class="strong shop-name">${shop.site ?? shopWords.none}</span>
    <span class=${classes("shop-state", shop.unwell === 0 && "quiet")}>
      ${shop.unwell ? shopWords.are({ how: shop.how, n: shop.unwell, all_n: shop.total }) : shopWords.well({ n: shop.total })}</span>
    ${quiet && html`<span class="quiet shop-state" title=${quiet.title}>${quiet.word}</span>`}
    ${h(Dots, { shop })}
    ${more > 0 && html`<span class="quiet" aria-hidden="true">${shopWords.more({ n: more })}</span>`}
  </button>`;
}

/** The shops in their order; while the pointer or the focus is on them, none changes its place. @param {Shop[]} shops */
function useHeldOrder(shops) {
  const held = useRef(false);
  const before = useRef(/** @type {(string | null)[]} */ ([]));
  const place = new Map(before.current.map((name, i) => [name, i]));
  /** @param {Shop} shop */
  const of = (shop) => place.get(shop.site) ?? Infinity;
  const shown = held.current ? [...shops].sort((a, b) => of(a) - of(b)) : shops;
  before.current = shown.map((shop) => shop.site);
  const hold = () => (held.current = true);
  const release = () => (held.current = false);
  return { shown, holding: { onMouseEnter: hold, onMouseLeave: release, onFocusIn: hold, onFocusOut: release } };
}

export function Shops() {
  void version.value;
  const [all, setAll] = useState(false);
  const { shown, holding } = useHeldOrder(shopsOf(clients.values(), places.value));
  const tagged = !places.value && [...clients.values()].some(({ tags }) => tags?.length);
  if (shown.length < 2 && !tagged && !site.value) return null;
  return html`<section class="shops" aria-label=${shopWords.title} ...${holding}>
    ${
      shown.length > 1 &&
      html`<div class="shop-tiles">
        ${shown.slice(0, all ? undefined : SHOPS).map((shop) => h(Tile, { key: shop.site ?? "", shop }))}</div>`
    }
    ${
      !all &&
      shown.length > SHOPS &&
      html`<button class="link" onClick=${() => setAll(true)}>${shopWords.all({ n: shown.length })}</button>`
    }
    ${site.value && h(RenameLink, {})}
    ${tagged && html`<div class="chips" role="group" aria-label=${shopWords.tags}>${h(Tags, {})}</div>`}
  </section>`;
}
