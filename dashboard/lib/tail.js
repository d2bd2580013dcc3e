/** Live tail: new rows are added while the start of the list is visible; otherwise they are only counted. */
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { poll } from "./poll.js";

/** @typedef {import("./types").LogRow} LogRow */

const LOOK_EVERY = 3_000;

/** @param {LogRow} row */
const idOf = (row) => row.id;

/** Whether the reader sees the list's beginning. @param {HTMLElement | null} element */
function beginsInView(element) {
  if (!element) return false;
  const box = (element.closest(".panel") ?? document.documentElement).getBoundingClientRect();
  return element.getBoundingClientRect().top >= Math.max(0, box.top);
}

/**
 * @param {string} about what the list is about, as for `usePages`
 * @param {import("./pages.js").Paged<LogRow>} list
 * @param {(abort: AbortSignal) => Promise<import("./types").Page<LogRow>>} first asks for the first page
 */
export function useTail(about, list, first) {
  const top = useRef(/** @type {HTMLElement | null} */ (null));
  const [on, setOn] = useState(true);
  const [newer, setNewer] = useState(0);
  const state = useRef({ list, on });
  state.current = { list, on };
  const loaded = list.items !== null;
  useEffect(() => {
    setNewer(0);
    if (!loaded) return undefined;
    return poll(
      async (abort) => {
        const page = await first(abort);
        const { list: known, on: follow } = state.current;
        const ids = new Set((known.items ?? []).map(idOf));
        const joint = page.items.findIndex((row) => ids.has(idOf(row)));
        const fresh = joint < 0 ? page.items.length : joint;
        if (fresh && follow && beginsInView(top.current)) known.absorb(page, idOf);
        else setNewer(fresh);
      },
      () => LOOK_EVERY,
    ).stop;
  }, [about, loaded]);
  useEffect(() => setNewer(0), [list.items]);
  return { top, on, setOn, newer };
}
