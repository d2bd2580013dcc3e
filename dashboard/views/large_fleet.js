/** What a large fleet's page lists, and the way to more of it. */
import { h } from "../vendor/preact.js";
import { useEffect } from "../vendor/hooks.js";
import { filtered } from "../lib/filter.js";
import { html } from "../lib/html.js";
import { failed, loading, loadMore, PAGE, retry, watchDisplays } from "../lib/large_fleet.js";
import { more, rows } from "../lib/table.js";
import { param } from "../lib/url.js";
import { largeWords } from "../lib/words/large.js";
import { LoadFailed, Loading } from "./parts.js";

const query = param("q");

export function LargeFleet() {
  useEffect(watchDisplays, []);
  if (failed.value) return h(LoadFailed, { text: largeWords.failed, why: failed.value, retry });
  if (!filtered.value) return html`<p class="note">${largeWords.unwell}</p>`;
  if (loading.value) return h(Loading, { rows: 1 });
  const searched = query.value && largeWords.search;
  if (!more.value) return searched && html`<p class="note">${searched}</p>`;
  return html`<p class="note">${largeWords.first({ n: rows.value.length })} ${searched} <button class="link" onClick=${loadMore}>
      ${largeWords.more({ n: PAGE })}</button></p>`;
}
