/** A list that loads page by page, newest first; the first page can be reloaded. */
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { updating } from "./fleet.js";
import { wordsOf } from "./problems.js";

/**
 * @template T
 * @typedef {object} Paged
 * @property {T[] | null} items null before the first answer
 * @property {boolean} more whether there is another page
 * @property {boolean} busy
 * @property {boolean} failed the last request failed; `items` are older, unless `about` has changed
 * @property {string} why the failure, for people
 * @property {() => void} loadMore
 * @property {() => void} reload
 * @property {() => void} renew like `reload`, for automatic use: keeps showing a failure until an answer comes
 * @property {(page: import("./types").Page<T>, idOf: (row: T) => unknown) => void} absorb put the new rows of a
 *   fresh first page before the known rows; without an overlap, or if the list is too long, the page replaces the list
 */

const ROWS_AT_MOST = 1_000; // the limit of a list that grows by itself

/**
 * Load the first page now and at each change of `about`; after a failure also when the service answers again.
 * @template T
 * @param {string} about what the list is about: its filter, as a text
 * @param {(cursor: string | null, abort: AbortSignal) => Promise<import("./types").Page<T>>} load
 * @returns {Paged<T>}
 */
export function usePages(about, load) {
  const [state, setState] = useState({
    items: /** @type {T[] | null} */ (null),
    cursor: /** @type {string | null} */ (null),
    busy: true,
    failed: false,
    why: "",
    of: about,
  });
  const current = useRef(new AbortController());

  /** @param {string | null} cursor @param {boolean} [quietly] */
  async function fetchPage(cursor, quietly = false) {
    if (!cursor) {
      current.current.abort();
      current.current = new AbortController();
    }
    const abort = current.current.signal;
    setState((before) => ({ ...before, busy: true, failed: quietly && before.failed }));
    try {
      const page = await load(cursor, abort);
      if (abort.aborted) return;
      setState((before) => ({
        items: cursor ? [...(before.items ?? []), ...page.items] : page.items,
        cursor: page.next_cursor,
        busy: false,
        failed: false,
        why: "",
        of: about,
      }));
    } catch (error) {
      if (!abort.aborted)
        setState((before) => ({
          ...before,
          busy: false,
          failed: true,
          why: wordsOf(error),
          items: before.of === about ? before.items : null,
        }));
    }
  }

  /** @type {Paged<T>["absorb"]} */
  function absorb(page, idOf) {
    setState((before) => {
      const known = new Set((before.items ?? []).map(idOf));
      const joint = page.items.findIndex((row) => known.has(idOf(row)));
      if (joint === 0) return before;
      if (joint < 0 || (before.items ?? []).length + joint > ROWS_AT_MOST)
        return { ...before, items: page.items, cursor: page.next_cursor };
      return { ...before, items: [...page.items.slice(0, joint), ...(before.items ?? [])] };
    });
  }

  useEffect(() => {
    fetchPage(null);
    return () => current.current.abort();
  }, [about]);
  useEffect(() => {
    if (updating.value && state.failed) fetchPage(null); // the service answers again
  }, [updating.value]);
  return {
    ...state,
    more: state.cursor !== null,
    loadMore: () => {
      if (!state.busy && state.cursor) fetchPage(state.cursor);
    },
    reload: () => fetchPage(null),
    renew: () => fetchPage(null, true),
    absorb,
  };
}
