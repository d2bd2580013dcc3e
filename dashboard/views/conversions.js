/** Uploaded media, and what became of those that are presentations. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import * as api from "../lib/api/media.js";
import { classes, html } from "../lib/html.js";
import { size } from "../lib/measures.js";
import { poll } from "../lib/poll.js";
import { mayOperate } from "../lib/session.js";
import { stored } from "../lib/uploads.js";
import { commonWords } from "../lib/words/first.js";
import { faultOf, warningOf } from "../lib/conversion_report.js";
import { conversionWords } from "../lib/words/conversions.js";
import { wordsOf } from "../lib/problems.js";
import { Dialog } from "./dialog.js";
import { Age, Glyph, LoadFailed, Loading } from "./parts.js";
import { Uploads } from "./uploads.js";

/** @typedef {import("../lib/types").Media} Media */
/** @typedef {import("../lib/types").Conversion} Conversion */
/** @typedef {{media: Media, conversion: Conversion | null}} Item */

const PERIOD = 10_000;
const PERIOD_CONVERTING = 1_500;

/** @param {Item} item */
const isOpen = ({ conversion }) => conversion?.status === "pending" || conversion?.status === "processing";

/**
 * Media with their newest conversions, page by page; the shown ones are renewed, faster while one is being converted.
 */
function useItems() {
  const [state, setState] = useState({
    items: /** @type {Item[] | null} */ (null),
    cursor: /** @type {string | null} */ (null),
    failed: "",
  });
  const [pages, setPages] = useState(1);
  const [asked, ask] = useState(0);
  useEffect(() => {
    let converting = true;
    /** @param {AbortSignal} abort */
    async function round(abort) {
      /** @type {Item[]} */
      const items = [];
      let cursor = /** @type {string | null} */ (null);
      for (let page = 0; page < pages && (page === 0 || cursor); page++) {
        const answer = await api.listMedia(cursor, abort);
        items.push(...answer.items.map(({ conversion, ...media }) => ({ media, conversion })));
        cursor = answer.next_cursor;
      }
      converting = items.some(isOpen);
      setState({ items, cursor, failed: "" });
    }
    /** @param {unknown} error */
    const refuse = (error) => setState((before) => ({ ...before, failed: wordsOf(error) }));
    return poll(round, () => (converting ? PERIOD_CONVERTING : PERIOD), refuse).stop;
  }, [stored.value, asked, pages]);
  return { ...state, again: () => ask(asked + 1), loadMore: () => setPages(pages + 1) };
}

/**
 * @param {Conversion} conversion
 * @returns {{code: string, text: string, list: string[]}[]} what the report warns of, in words
 */
function warningsOf(conversion) {
  const warnings = conversion.report?.["warnings"];
  if (!Array.isArray(warnings)) return [];
  return warnings.map((one) => ({
    code: String(one.code),
    text: warningOf(one),
    list: listOf(one),
  }));
}

/**
 * What a warning names: fonts with what stands in for them, or addresses.
 * @param {Record<string, any>} one
 * @returns {string[]}
 */
function listOf(one) {
  const named = one["fonts"] ?? one["targets"] ?? [];
  const alike = one["same_widths"] ?? {};
  return named.map((/** @type {string} */ name) =>
    alike[name] ? conversionWords.alike({ font: name, twin: alike[name] }) : name,
  );
}

/**
 * Whether the warning is about nothing that people see on a page: links, transitions, fonts replaced by equally wide
 * ones.
 * @param {Record<string, any>} one
 */
function isMild(one) {
  const isOfEffects = one["code"] === "timing_lost" && !one["advancing"];
  return (
    isOfEffects ||
    one["code"] === "hyperlinks" ||
    (/^fonts_/.test(one["code"]) &&
      one["fonts"].length > 0 &&
      one["fonts"].every((/** @type {string} */ name) => one["same_widths"]?.[name]))
  );
}

/** @param {{conversion: Conversion}} props */
function Warnings({ conversion }) {
  const warnings = warningsOf(conversion);
  if (!warnings.length) return null;
  const mild = /** @type {Record<string, any>[]} */ (conversion.report?.["warnings"]).every(isMild);
  return html`<details class="warnings"><summary class=${classes("tag", !mild && "tag-amber")}>
      ${mild ? conversionWords.notes({ n: warnings.length }) : conversionWords.warnings({ n: warnings.length })}</summary>
    <ul>${warnings.map(
      ({ code, text, list }) => html`<li key=${code}>${text}
        ${list.length > 0 && html`<ul class="quiet">${list.map((name) => html`<li key=${name}>${name}</li>`)}</ul>`}
      </li>`,
    )}</ul></details>`;
}

/** @param {{item: Item, changed: () => void}} props */
function Retry({ item, changed }) {
  const [failed, setFailed] = useState("");
  const refuse = (/** @type {unknown} */ error) => setFailed(wordsOf(error));
  const go = () => api.ensurePdf(item.media.id).then(changed, refuse);
  return html`<button class="plain" disabled=${!mayOperate.value}
      title=${mayOperate.value ? "" : conversionWords.viewerRetry} onClick=${go}>${commonWords.retry}</button>
    ${failed && html`<span class="cause" role="alert">${failed}</span>`}`;
}

/** @typedef {"rename" | "delete" | "again"} Question */
/**
 * @typedef
 *   {{item: Item, open: (item: Item) => void, changed: () => void, ask: (question: Question, item: Item) => void}}
 *   RowProps
 */

/** @param {RowProps} props */
function Actions({ item, open, changed }) {
  const { media, conversion } = item;
  if (conversion?.status === "failed") return h(Retry, { item, changed });
  if (conversion?.status === "ready" && conversion.file_url) {
    return html`<button class="plain" aria-label=${conversionWords.openOf({ name: media.filename })} onClick=${() => open(item)}>
        ${conversionWords.open}</button>
      <a class="button plain" href=${conversion.file_url} download=${pdfName(media)}>${conversionWords.download}</a>`;
  }
  if (conversion) return null;
  return html`<a class="button plain" href=${api.mediaContentUrl(media.id)} download=${media.filename}>
    ${conversionWords.download}</a>`;
}

/** What is done less often. @param {RowProps} props */
function More({ item, ask }) {
  if (!mayOperate.value) return null;
  const { media, conversion } = item;
  /** The menu closes with what was chosen. @param {Question} question */
  const choose = (question) => (/** @type {MouseEvent} */ event) => {
    /** @type {HTMLElement} */ (event.currentTarget).closest("details")?.removeAttribute("open");
    ask(question, item);
  };
  return html`<details class="more-actions"><summary class="button icon"
      aria-label=${conversionWords.moreOf({ name: media.filename })}>⋯</summary>
    <div class="menu">
      <button class="plain" onClick=${choose("rename")}>${conversionWords.rename}</button>
      ${
        conversion?.status === "ready" &&
        html`<button class="plain" onClick=${choose("again")}>
          ${conversionWords.convertAgain}</button>`
      }
      ${
        conversion &&
        html`<a class="button plain" href=${api.mediaContentUrl(media.id)} download=${media.filename}>
          ${conversionWords.original}</a>`
      }
      <button class="danger" onClick=${choose("delete")}>${conversionWords.delete}</button>
    </div></details>`;
}

/** @param {Media} media */
const pdfName = (media) => media.filename.replace(/\.[^.]*$/, "") + ".pdf";

/** @param {{item: Item}} props */
function Picture({ item }) {
  const { media, conversion } = item;
  if (!conversion?.report?.["thumbnail"]) return html`<span class="thumb">${h(Glyph, { shape: "file" })}</span>`;
  return html`<img class="thumb" src=${api.thumbnailUrl(media.id, conversion.id)}
    alt=${conversionWords.firstPage({ name: media.filename })} loading="lazy" width="96" height="54" />`;
}

/** @param {RowProps} props */
function Row(props) {
  const { item } = props;
  const { media, conversion } = item;
  const status = conversion?.status ?? "stored";
  const busy = isOpen(item);
  return html`<li class="media" data-status=${status}>
    ${h(Picture, { item })}
    <div class="media-body">
      <span class="media-name">${media.filename}</span>
      <span class="quiet">${media.kind} · ${size(media.bytes)} · ${h(Age, { at: media.uploaded_at })}
        ${conversion?.pages ? ` · ${conversionWords.pages({ n: conversion.pages })}` : ""}</span>
      ${conversion?.status === "failed" && html`<span class="cause">${faultOf(conversion)}</span>`}
      ${conversion && h(Warnings, { conversion })}
    </div>
    <span class=${classes("badge", `conversion-${status}`)} role="status">
      ${busy && html`<span class="spinner" aria-hidden="true"></span>`}${conversionWords.status[status]}
      ${conversion?.waiting_before ? ` · ${conversionWords.waitingBefore({ n: conversion.waiting_before })}` : ""}
      ${busy && conversion && conversion.attempts > 1 ? ` · ${conversionWords.attempt({ n: conversion.attempts })}` : ""}
    </span>
    <div class="media-actions">${h(Actions, props)}${h(More, props)}</div>
  </li>`;
}

/** @param {{question: Question, item: Item, close: () => void, changed: () => void}} props */
function Ask({ question, item, close, changed }) {
  const [failed, setFailed] = useState("");
  const { media } = item;
  const words = conversionWords.ask[question];
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const name = String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get("name") ?? "").trim();
    const call =
      question === "rename"
        ? api.renameMedia(media.id, name)
        : question === "delete"
          ? api.deleteMedia(media.id)
          : api.reconvert(media.id);
    call.then(
      () => {
        changed();
        close();
      },
      (error) => setFailed(wordsOf(error)),
    );
  };
  const body = html`<form class="connect" onSubmit=${submit}><p><strong>${media.filename}</strong></p>
    ${words.text && html`<p>${words.text}</p>`}
    ${
      question === "rename" &&
      html`<label>${conversionWords.newName}
        <input name="name" required maxlength="255" autocomplete="off" value=${media.filename} autofocus /></label>`
    }
    <p class="form-error" role="alert">${failed}</p>
    <div class="dialog-foot"><button type="button" class="plain" onClick=${close}>${commonWords.cancel}</button>
      <button class=${question === "delete" ? "danger" : "primary"}>${words.go}</button></div></form>`;
  return h(Dialog, { title: words.title, onClose: close, children: body });
}

/** @param {{item: Item, close: () => void}} props */
function Preview({ item, close }) {
  const url = item.conversion?.file_url ?? "";
  const title = conversionWords.preview({ name: item.media.filename });
  const body = html`<iframe class="pdf" src=${url} title=${title}></iframe>
    <div class="dialog-foot"><a class="button plain" href=${url} target="_blank" rel="noopener">
        ${conversionWords.newTab}</a>
      <a class="button plain" href=${url} download=${pdfName(item.media)}>${conversionWords.download}</a></div>`;
  return h(Dialog, { title, onClose: close, wide: true, children: body });
}

export function ConversionsPage() {
  const { items, cursor, failed, again, loadMore } = useItems();
  const [open, setOpen] = useState(/** @type {Item | null} */ (null));
  const [asking, setAsking] = useState(/** @type {{question: Question, item: Item} | null} */ (null));
  /** @type {RowProps["ask"]} */
  const ask = (question, item) => setAsking({ question, item });
  return html`<div class="page-head"><h1>${conversionWords.title}</h1></div>
    <p class="quiet lead">${conversionWords.lead}</p>
    ${h(Uploads, {})}
    <section class="card" aria-label=${conversionWords.list}>
      ${failed && h(LoadFailed, { text: conversionWords.failedList, why: failed, retry: again })}
      ${!items && !failed && h(Loading, { rows: 3 })}
      ${items?.length === 0 && html`<p class="note">${conversionWords.none}</p>`}
      ${
        items &&
        items.length > 0 &&
        html`<ul class="media-list">
          ${items.map((item) => h(Row, { key: item.media.id, item, open: setOpen, changed: again, ask }))}</ul>`
      }
      ${cursor && html`<button class="plain more" onClick=${loadMore}>${commonWords.more}</button>`}
    </section>
    ${open && h(Preview, { item: open, close: () => setOpen(null) })}
    ${asking && h(Ask, { ...asking, close: () => setAsking(null), changed: again })}`;
}
