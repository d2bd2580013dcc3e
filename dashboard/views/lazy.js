/** Views whose code is fetched when they are first shown: the fleet page does not wait for what it does not need. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { wordsLoaded } from "../lib/language.js";
import { commonWords } from "../lib/words/first.js";
import { LoadFailed, Loading } from "./parts.js";

/** @type {Map<string, Promise<void>>} */
const styled = new Map();

/** Fetch a style sheet, once. @param {string} href @returns {Promise<void>} */
function style(href) {
  const known = styled.get(href);
  if (known) return known;
  const fetched = /** @type {Promise<void>} */ (
    new Promise((resolve, reject) => {
      const link = document.createElement("link");
      link.rel = "stylesheet";
      link.href = href;
      link.onload = () => resolve();
      link.onerror = reject;
      document.head.append(link);
    })
  );
  styled.set(href, fetched);
  return fetched;
}

/**
 * A component that fetches the real one. Where that fails, trying again means loading the page again (a browser
 * remembers a module that failed), which loses nothing: what the page shows stands in its address.
 * @template {object} P
 * @param {() => Promise<import("../vendor/preact.js").ComponentType<P>>} load
 * @param {{bare?: boolean, small?: boolean}} [how] bare: until it is there, nothing stands in its place; small: it
 *   needs views.css only, and not the sheet of whole pages
 * @returns {import("../vendor/preact.js").FunctionComponent<P> & {load: () => Promise<void>}} load: fetch it before it is shown
 */
export function lazy(load, { bare = false, small = false } = {}) {
  /** @type {import("../vendor/preact.js").ComponentType<P> | null} */
  let found = null;
  /** @type {Promise<void> | null} */
  let loading = null;
  async function fetchOnce() {
    const [component] = await Promise.all([load(), style("views.css"), small || style("pages.css")]);
    await wordsLoaded();
    found = component;
  }
  const loadOnce = () => (loading ??= fetchOnce());
  return Object.assign(Lazy, { load: loadOnce });
  /** @param {P} props */
  function Lazy(props) {
    const [failed, setFailed] = useState(false);
    const [, arrived] = useState(found !== null);
    useEffect(() => {
      if (!found)
        loadOnce().then(
          () => arrived(true),
          () => setFailed(true),
        );
    }, []);
    if (found) return h(/** @type {any} */ (found), props);
    if (failed) return h(LoadFailed, { text: commonWords.notLoaded, retry: () => location.reload() });
    return bare ? null : h(Loading, { rows: 4 });
  }
}
