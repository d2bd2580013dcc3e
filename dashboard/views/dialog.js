/** The modal dialog that every question stands in. */
import { h } from "../vendor/preact.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";
import { classes, html } from "../lib/html.js";
import { commonWords } from "../lib/words/first.js";
import { Glyph } from "./parts.js";

/**
 * A modal dialog. `onClose` is called for Esc and the close button; without it the dialog cannot be dismissed.
 * It gives the focus back at once: another dialog may follow.
 * @param {{title: string, onClose?: () => void, wide?: boolean, children?: any}} props
 */
export function Dialog({ title, onClose, wide, children }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const element = ref.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  /** @param {Event} event */
  const cancel = (event) => {
    event.preventDefault();
    onClose?.();
  };
  return html`<dialog ref=${ref} class=${classes("dialog", wide && "dialog-wide")} aria-labelledby="dialog-title"
    onCancel=${cancel}>
    <div class="dialog-head">
      <h2 id="dialog-title">${title}</h2>
      ${
        onClose &&
        html`<button class="icon" aria-label=${commonWords.close} onClick=${onClose}>
          ${h(Glyph, { shape: "close" })}</button>`
      }
    </div>
    ${children}
  </dialog>`;
}
