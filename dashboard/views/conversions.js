// @ts-check
/** Uploaded media, and what became of those that are presentations. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import * as api from "../lib/api.js";
import { Age, size } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { mayOperate } from "../lib/session.js";
import { S } from "../lib/strings.js";
import { stored } from "../lib/uploads.js";
import { Dialog, Glyph, LoadFailed, Loading } from "./parts.js";
import { Uploads } from "./uploads.js";

/** @typedef {import("../lib/types").Media} Media */
/** @typedef {import("../lib/types").Conversion} Conversion */
/** @typedef {{media: Media, conversion: Conversion | null}} Item */

const PERIOD = 10_000;
const PERIOD_CONVERTING = 1_500;

/** @param {Item} item */
const isOpen = ({ conversion }) => conversion?.status === "pending" || conversion?.status === "processing";

/** The newest media with their conversions; asked for again and again, faster while one is being converted. */
function useItems() {
  const [items, setItems] = useState(/** @type {Item[] | null} */ (null));
  const [failed, setFailed] = useState(false);
  const [asked, ask] = useState(0);
  useEffect(() => {
    let converting = true;
    /** @param {AbortSignal} abort */
    async function round(abort) {
      const [media, conversions] = await Promise.all([api.listMedia(null, abort), api.listConversions(abort)]);
      const latest = new Map([...conversions.items].reverse().map((one) => [one.media_id, one]));
      const joined = media.items.map((one) => ({ media: one, conversion: latest.get(one.id) ?? null }));
      converting = joined.some(isOpen);
      setItems(joined);
      setFailed(false);
    }
    const polling = poll(round, () => (converting ? PERIOD_CONVERTING : PERIOD), () => setFailed(true));
    return polling.stop;
  }, [stored.value, asked]);
  return { items, failed, again: () => ask(asked + 1) };
}

/** @param {Conversion} conversion @returns {string[]} what the report warns of, as texts */
function warningsOf(conversion) {
  const warnings = conversion.report?.["warnings"];
  if (!Array.isArray(warnings)) return [];
  return warnings.map((one) => S.conversions.warning[one.code]?.(one) ?? String(one.code));
}

/** @param {{conversion: Conversion}} props */
function Warnings({ conversion }) {
  const warnings = warningsOf(conversion);
  if (!warnings.length) return null;
  return html`<details class="warnings"><summary class="tag tag-amber">${S.conversions.warnings(warnings.length)}</summary>
    <ul>${warnings.map((text, i) => html`<li key=${i}>${text}</li>`)}</ul></details>`;
}

/** @param {{item: Item, changed: () => void}} props */
function Retry({ item, changed }) {
  const [failed, setFailed] = useState("");
  /** @param {unknown} error */
  const refuse = (error) => setFailed(error instanceof api.ApiProblem ? error.message : S.session.unreachable);
  const go = () => api.convertAgain(item.media.id).then(changed, refuse);
  return html`<button class="plain" disabled=${!mayOperate.value} title=${mayOperate.value ? "" : S.conversions.viewerRetry} onClick=${go}>${S.retry}</button>
    ${failed && html`<span class="cause" role="alert">${failed}</span>`}`;
}

/** @param {{item: Item, open: (item: Item) => void, changed: () => void}} props */
function Actions({ item, open, changed }) {
  const { media, conversion } = item;
  if (conversion?.status === "failed") return h(Retry, { item, changed });
  if (conversion?.status === "ready" && conversion.file_url) {
    return html`<button class="plain" aria-label=${S.conversions.openOf(media.filename)} onClick=${() => open(item)}>${S.conversions.open}</button>
      <a class="button plain" href=${conversion.file_url} download=${pdfName(media)}>${S.conversions.download}</a>`;
  }
  if (conversion) return null;
  return html`<a class="button plain" href=${api.mediaContentUrl(media.id)} download=${media.filename}>${S.conversions.download}</a>`;
}

/** @param {Media} media */
const pdfName = (media) => media.filename.replace(/\.[^.]*$/, "") + ".pdf";

/** @param {{item: Item, open: (item: Item) => void, changed: () => void}} props */
function Row({ item, open, changed }) {
  const { media, conversion } = item;
  const status = conversion?.status ?? "stored";
  const busy = isOpen(item);
  return html`<li class="media" data-status=${status}>
    <${Glyph} shape="file" />
    <div class="media-body">
      <span class="media-name">${media.filename}</span>
      <span class="quiet">${media.kind} · ${size(media.bytes)} · ${h(Age, { at: media.uploaded_at })}${conversion?.pages ? ` · ${S.conversions.pages(conversion.pages)}` : ""}</span>
      ${conversion?.status === "failed" && html`<span class="cause">${conversion.error_message}</span>`}
      ${conversion && h(Warnings, { conversion })}
    </div>
    <span class=${classes("badge", `conversion-${status}`)} role="status">${busy && html`<span class="spinner" aria-hidden="true"></span>`}${S.conversions.status[status]}${busy && conversion && conversion.attempts > 1 ? ` · ${S.conversions.attempt(conversion.attempts)}` : ""}</span>
    <div class="media-actions">${h(Actions, { item, open, changed })}</div>
  </li>`;
}

/** @param {{item: Item, close: () => void}} props */
function Preview({ item, close }) {
  const url = item.conversion?.file_url ?? "";
  const title = S.conversions.preview(item.media.filename);
  const body = html`<iframe class="pdf" src=${url} title=${title}></iframe>
    <div class="dialog-foot"><a class="button plain" href=${url} target="_blank" rel="noopener">${S.conversions.newTab}</a>
      <a class="button plain" href=${url} download=${pdfName(item.media)}>${S.conversions.download}</a></div>`;
  return h(Dialog, { title, onClose: close, wide: true, children: body });
}

export function ConversionsPage() {
  const { items, failed, again } = useItems();
  const [open, setOpen] = useState(/** @type {Item | null} */ (null));
  return html`<div class="page-head"><h1>${S.conversions.title}</h1></div>
    <p class="quiet lead">${S.conversions.lead}</p>
    ${h(Uploads, {})}
    <section class="card" aria-label=${S.conversions.list}>
      ${failed && h(LoadFailed, { text: S.conversions.failedList, retry: again })}
      ${!items && !failed && h(Loading, { rows: 3 })}
      ${items?.length === 0 && html`<p class="note">${S.conversions.none}</p>`}
      ${items && items.length > 0 && html`<ul class="media-list">${items.map((item) => h(Row, { key: item.media.id, item, open: setOpen, changed: again }))}</ul>`}
    </section>
    ${open && h(Preview, { item: open, close: () => setOpen(null) })}`;
}
