/** Where files are dropped or chosen, and how far each has come. */
import { h } from "../vendor/preact.js";
import { useRef, useState } from "../vendor/hooks.js";
import { classes, html } from "../lib/html.js";
import { share, size } from "../lib/measures.js";
import { mayOperate } from "../lib/session.js";
import { add, cancel, forget, retry, uploads } from "../lib/uploads.js";
import { commonWords } from "../lib/words/first.js";
import { conversionWords } from "../lib/words/conversions.js";
import { Glyph } from "./parts.js";

/** @typedef {import("../lib/uploads.js").Upload} Upload */

const ACCEPTED =
  ".ppt,.pps,.pot,.pptx,.ppsx,.pptm,.ppsm,.potx,.potm,.odp,.otp,.pdf,.png,.jpg,.jpeg,.webp,.gif,.mp4,.webm";
const LIMIT = 200_000_000; // bytes, as delivered; the service has the last word

/** @param {Upload} upload */
function phaseText(upload) {
  if (upload.phase === "waits") return conversionWords.waits;
  if (upload.phase === "uploading")
    return upload.share < 1 ? conversionWords.uploading({ share: share(upload.share) }) : conversionWords.storing;
  if (upload.phase === "cancelled") return conversionWords.cancelled;
  return upload.error || conversionWords.unreachable;
}

/** @param {{upload: Upload}} props */
function Row({ upload }) {
  const { id, file, phase } = upload;
  const going = phase === "waits" || phase === "uploading";
  const bad = phase === "failed" || phase === "refused";
  return html`<li class="upload">
    ${h(Glyph, { shape: "file" })}
    <div class="upload-body">
      <span class="upload-name">${file.name} <span class="quiet">${size(file.size)}</span></span>
      ${going && html`<progress max="1" value=${upload.share} aria-label=${file.name}></progress>`}
      <span class=${bad ? "cause" : "quiet"} role=${bad ? "alert" : undefined}>${phaseText(upload)}</span>
    </div>
    ${
      going
        ? html`<button class="plain" aria-label=${conversionWords.cancelUpload({ name: file.name })} onClick=${() => cancel(id)}>
          ${commonWords.cancel}</button>`
        : html`${
            phase !== "refused" &&
            html`<button class="plain" onClick=${() => retry(id)}>${commonWords.retry}
            </button>`
          }
          <button class="icon" aria-label=${commonWords.dismiss} onClick=${() => forget(id)}>
            ${h(Glyph, { shape: "close" })}</button>`
    }
  </li>`;
}

function DropZone() {
  const [over, setOver] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  /** @param {DragEvent} event */
  const drag = (event) => {
    event.preventDefault();
    setOver(event.type === "dragover");
  };
  /** @param {DragEvent} event */
  const drop = (event) => {
    drag(event);
    add(event.dataTransfer?.files ?? []);
  };
  const choose = () => {
    add(input.current?.files ?? []);
    if (input.current) input.current.value = "";
  };
  return html`<div class=${classes("drop", over && "over")} onDragOver=${drag} onDragLeave=${drag} onDrop=${drop}>
    <p><strong>${conversionWords.drop}</strong> <span class="quiet">${conversionWords.or}</span></p>
    <button class="primary" onClick=${() => input.current?.click()}>${conversionWords.choose}</button>
    <input ref=${input} type="file" multiple accept=${ACCEPTED} class="visually-hidden" tabindex="-1"
      aria-label=${conversionWords.choose} onChange=${choose} />
    <p class="quiet">${conversionWords.limit({ size: size(LIMIT) })}</p>
  </div>`;
}

export function Uploads() {
  if (!mayOperate.value) return html`<p class="note">${conversionWords.viewer}</p>`;
  return html`${h(DropZone, {})}
    ${
      uploads.value.length > 0 &&
      html`<ul class="uploads card" aria-label=${conversionWords.uploads}>
        ${uploads.value.map((upload) => h(Row, { key: upload.id, upload }))}</ul>`
    }`;
}
