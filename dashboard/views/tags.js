/** The tags of the displays that the page knows. One filters the whole page. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { clients, version } from "../lib/fleet.js";
import { classes, html } from "../lib/html.js";
import { tagsOf } from "../lib/tags.js";
import { go, param } from "../lib/url.js";
import { shopWords } from "../lib/words/first.js";

const TAGS = 12; // shown before somebody asks for more
const chosenTag = param("tag");

/** @param {{tag: string, count: number}} props */
function Tag({ tag, count }) {
  const on = chosenTag.value === tag;
  return html`<button class=${classes("chip", on && "on")} aria-pressed=${on}
    onClick=${() => go({ tag: on ? null : tag })}>${tag} <span class="quiet">${count}</span></button>`;
}

export function Tags() {
  void version.value;
  const [all, setAll] = useState(false);
  const tags = tagsOf(clients.values());
  return html`${tags.slice(0, all ? undefined : TAGS).map(([tag, count]) => h(Tag, { key: tag, tag, count }))}
    ${
      !all &&
      tags.length > TAGS &&
      html`<button class="link" onClick=${() => setAll(true)}>${shopWords.allTags({ n: tags.length })}</button>`
    }`;
}
