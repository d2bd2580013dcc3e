/**
 * What is asked for only of the displays that are in the document: apart from the fleet, and seldom, so that the
 * overview's answer stays small.
 */
import { signal } from "../vendor/signals.js";
import { poll } from "./poll.js";

const LOOK = 20_000; // milliseconds
const SETTLED = 300; // milliseconds after the last display came into the document
const AT_ONCE = 100; // the limit of one request

/**
 * @template T
 * @param {(uuids: string[], abort: AbortSignal) => Promise<[string, T][]>} load what is known, by uuid
 * @param {number} kept milliseconds until it is asked for again
 */
export function inSight(load, kept) {
  /** @type {Map<string, {value: T | null, at: number}>} */
  const known = new Map();
  /** @type {Map<string, number>} */
  const shown = new Map();
  const answers = signal(0);
  let timer = 0;
  /** @type {ReturnType<typeof poll> | null} */
  let polling = null;

  const due = () => [...shown.keys()].filter((uuid) => performance.now() - (known.get(uuid)?.at ?? -Infinity) > kept);

  /** @param {AbortSignal} abort */
  async function round(abort) {
    const uuids = due().slice(0, AT_ONCE);
    if (!uuids.length) return;
    const began = performance.now();
    const found = new Map(await load(uuids, abort));
    const at = performance.now();
    for (const uuid of uuids)
      if ((known.get(uuid)?.at ?? -Infinity) < began) known.set(uuid, { value: found.get(uuid) ?? null, at });
    answers.value++;
  }

  function look() {
    if (polling) polling.now();
    else polling = poll(round, () => (due().length ? 0 : LOOK));
  }

  return {
    /** How many answers have come: what reads it renders again with each. */
    answers,
    /** What is known of a display: undefined before the answer, null for nothing. @param {string} uuid */
    of: (uuid) => known.get(uuid)?.value,
    /** Something newer is known of a display; an answer that was on its way does not undo it. @param {string} uuid @param {T | null} value */
    learn(uuid, value) {
      known.set(uuid, { value, at: performance.now() });
      answers.value++;
    },
    /** A display is shown; returns the way to say that it is not any more. @param {string} uuid */
    show(uuid) {
      shown.set(uuid, (shown.get(uuid) ?? 0) + 1);
      clearTimeout(timer);
      timer = window.setTimeout(look, SETTLED);
      return () => {
        const left = (shown.get(uuid) ?? 1) - 1;
        if (left) shown.set(uuid, left);
        else shown.delete(uuid);
      };
    },
  };
}
