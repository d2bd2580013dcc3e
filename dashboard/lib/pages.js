// @ts-check
/** A list that comes page by page, newest first, with a first page that can be asked for again. */
import { useEffect, useRef, useState } from "../vendor/hooks.js";

/**
 * @template T
 * @typedef {object} Paged
 * @property {T[] | null} items null before the first answer
 * @property {boolean} more whether there is another page
 * @property {boolean} busy
 * @property {boolean} failed the last request failed; `items` are from before
 * @property {() => void} loadMore
 * @property {() => void} reload
 */

/**
 * Load the first page now and whenever `about` changes.
 * @template T
 * @param {string} about what the list is about: its filter, as a text
 * @param {(cursor: string | null, abort: AbortSignal) => Promise<import("./types").Page<T>>} load
 * @returns {Paged<T>}
 */
export function usePages(about, load) {
  const [state, setState] = useState({ items: /** @type {T[] | null} */ (null), cursor: /** @type {string | null} */ (null), busy: true, failed: false });
  const current = useRef(new AbortController());

  /** @param {string | null} cursor */
  async function fetchPage(cursor) {
    if (!cursor) {
      current.current.abort();
      current.current = new AbortController();
    }
    const abort = current.current.signal;
    setState((before) => ({ ...before, busy: true, failed: false }));
    try {
      const page = await load(cursor, abort);
      if (abort.aborted) return;
      setState((before) => ({ items: cursor ? [...(before.items ?? []), ...page.items] : page.items, cursor: page.next_cursor, busy: false, failed: false }));
    } catch {
      if (!abort.aborted) setState((before) => ({ ...before, busy: false, failed: true }));
    }
  }

  useEffect(() => {
    fetchPage(null);
    return () => current.current.abort();
  }, [about]);
  return {
    ...state,
    more: state.cursor !== null,
    loadMore: () => {
      if (!state.busy && state.cursor) fetchPage(state.cursor);
    },
    reload: () => fetchPage(null),
  };
}
