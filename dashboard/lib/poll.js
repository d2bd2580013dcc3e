/**
 * Repeats requests: one at a time, slower in a hidden or idle tab, with a back-off when the service does not answer.
 */
import { ApiProblem } from "./api/call.js";

const HIDDEN = 60_000; // the tab is in the background
const IDLE = 15_000; // no input for IDLE_AFTER
const IDLE_AFTER = 5 * 60_000;
const BACK_OFF_FIRST = 1_000;
const BACK_OFF_MOST = 60_000;

let lastTouch = Date.now();
for (const event of ["pointerdown", "pointermove", "keydown", "wheel"]) {
  addEventListener(event, () => (lastTouch = Date.now()), { passive: true });
}

/**
 * Delay after `failures` in a row: it doubles, with jitter, and is never below the service's Retry-After.
 * @param {number} failures @param {unknown} error
 */
function backOff(failures, error) {
  const grown = Math.min(BACK_OFF_MOST, BACK_OFF_FIRST * 2 ** Math.min(failures, 6));
  const asked = error instanceof ApiProblem && error.retryAfter ? error.retryAfter * 1000 : 0;
  return Math.max(asked, grown * (0.5 + Math.random()));
}

/** @param {number} wanted */
function pace(wanted) {
  if (document.hidden) return HIDDEN;
  return Date.now() - lastTouch > IDLE_AFTER ? Math.max(wanted, IDLE) : wanted;
}

/**
 * Run `work` at once and then repeatedly.
 *
 * @param {(abort: AbortSignal) => Promise<void>} work one round; throwing makes the next one wait longer
 * @param {() => number} interval milliseconds between rounds while the page is visible and in use
 * @param {(error: unknown) => void} [onFailure] told of each failed round
 */
export function poll(work, interval, onFailure = () => {}) {
  const abort = new AbortController();
  let timer = 0;
  let failures = 0;
  let busy = false;
  let again = false;

  async function round() {
    clearTimeout(timer);
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    again = false;
    const delay = await attempt();
    busy = false;
    if (!abort.signal.aborted) timer = window.setTimeout(round, again ? 0 : delay);
  }

  async function attempt() {
    try {
      await work(abort.signal);
      failures = 0;
      return pace(interval());
    } catch (error) {
      if (!abort.signal.aborted) onFailure(error);
      return backOff(failures++, error);
    }
  }

  const onVisible = () => !document.hidden && round();
  const onOnline = () => round();
  document.addEventListener("visibilitychange", onVisible);
  addEventListener("online", onOnline);
  round();

  return {
    /** Do not wait for the interval. */
    now: round,
    stop() {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
      removeEventListener("online", onOnline);
    },
  };
}
