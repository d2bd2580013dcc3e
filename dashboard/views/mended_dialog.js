/** The failures that are mended, shown before they are acknowledged together. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { acknowledgeMendedOnes } from "../lib/failures.js";
import { html } from "../lib/html.js";
import { commonWords } from "../lib/words/first.js";
import { mendedWords } from "../lib/words/mended.js";
import { failureWords } from "../lib/words/trouble.js";
import { nameAndSite } from "../lib/format.js";
import { FormDialog } from "./form_dialog.js";
import { IsMended } from "./is_mended.js";
import { Dialog } from "./dialog.js";

/** @typedef {import("../lib/types").Failure} Failure */

/** @param {{failures: Failure[], close: () => void}} props failures: as they were when the dialog was opened */
export function MendedDialog({ failures, close }) {
  const [left, setLeft] = useState(0);
  if (left) {
    const children = html`<p role="status">${mendedWords.left({ n: left })}</p>
      <div class="dialog-foot"><button class="primary" onClick=${close}>${commonWords.close}</button></div>`;
    return h(Dialog, { title: mendedWords.title, onClose: close, children });
  }
  const act = () => acknowledgeMendedOnes(failures);
  const done = (/** @type {number} */ count) => (count < failures.length ? setLeft(failures.length - count) : close());
  const children = html`<p>${mendedWords.lead}</p>
    <ul class="batch-members">${failures.map(
      (failure) => html`<li key=${failure.uuid} class="mended-row"><strong>${nameAndSite(failure)}</strong>
        <code>${failure.service_failed_unit}</code>${h(IsMended, { failure })}</li>`,
    )}</ul>`;
  return h(FormDialog, {
    title: mendedWords.title,
    go: failureWords.acknowledgeThese({ n: failures.length }),
    act,
    done,
    close,
    children,
  });
}
