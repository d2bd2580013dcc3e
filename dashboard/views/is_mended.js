/** That a failed service works again, since when, and by whom. */
import { h } from "../vendor/preact.js";
import { person } from "../lib/format.js";
import { html } from "../lib/html.js";
import { failureWords } from "../lib/words/trouble.js";
import { Time } from "./parts.js";

/** @param {{failure: import("../lib/types").Failure}} props */
export function IsMended({ failure }) {
  if (!failure.mended_since) return null;
  const who = failure.mended_by && person(failure.mended_by);
  return html`<span class="quiet">${who ? failureWords.mendedBy({ who }) : failureWords.wellSince} ${h(Time, { at: failure.mended_since })}</span>`;
}
