/** The displays of a large fleet that the filters keep: asked for in pages, and again while they are shown. */
import { computed, effect, signal } from "../vendor/signals.js";
import * as api from "./api/large_fleet.js";
import { filtered, parts } from "./filter.js";
import { clients, overview, places, take } from "./fleet.js";
import { poll } from "./poll.js";
import { more, resort } from "./table.js";
import { unsteady } from "./unsteady.js";
import { wordsOf } from "./problems.js";

const AGAIN = 30_000; // milliseconds; the heartbeats come with it
const SETTLED = 150; // milliseconds after the last key in the search
const AT_ONCE = 100; // displays by name

/** How many displays one page has. */
export const PAGE = 1_000;
/** Why they could not be loaded, or "". */
export const failed = signal("");
/** Whether they are on their way for the first time. */
export const loading = signal(false);

/** What the address asks for, as the API wants it; null: nothing. */
const asked = computed(() => {
  if (!places.value || !filtered.value) return null;
  const { status, q, site, nosite, tag, incident } = Object.fromEntries(parts.value);
  const place = { q: q?.slice(0, 200), site, nosite: nosite && "true", tag, incident, limit: PAGE };
  if (status === "screen_failed" || status === "limit_passed") return { ...place, [status]: "true" };
  if (status === "unsteady") return { ...place, client: [...unsteady.value.keys()].slice(0, AT_ONCE) };
  return { ...place, status: status === "running" ? ["running", "late"] : status };
});

let pages = 1;
/** @type {ReturnType<typeof poll> | null} */
let polling = null;

/** @param {AbortSignal} abort */
async function round(abort) {
  let cursor = /** @type {string | null} */ (null);
  for (let page = 0; page < pages; page++) {
    const answer = await take(() => api.displays({ ...asked.peek(), cursor }, abort));
    if (abort.aborted) return;
    cursor = answer.next_cursor;
    if (!cursor) break;
  }
  more.value = cursor !== null;
  failed.value = "";
  if (loading.value) resort();
  loading.value = false;
}

/** Ask now. */
export const retry = () => polling?.now();

/** Ask for one page more. */
export function loadMore() {
  pages++;
  loading.value = true;
  retry();
}

/** Follow the filters. Returns a function that stops it. */
export function watchDisplays() {
  let timer = 0;
  const stop = () => {
    clearTimeout(timer);
    polling?.stop();
    polling = null;
  };
  const about = computed(() => JSON.stringify(asked.value));
  const ends = [
    effect(() => {
      const wanted = about.value !== "null";
      stop();
      pages = 1;
      failed.value = "";
      loading.value = more.value = wanted;
      const start = () =>
        (polling = poll(
          round,
          () => AGAIN,
          (error) => (failed.value = wordsOf(error)),
        ));
      if (wanted) timer = window.setTimeout(start, SETTLED);
    }),
    effect(() => {
      if (overview.value?.full) retry(); // what was listed is forgotten
    }),
    effect(() => {
      const client = [...unsteady.value.keys()].filter((uuid) => !clients.has(uuid)).slice(0, AT_ONCE);
      if (client.length) take(() => api.displays({ client })).catch(() => {}); // asked again with the next list
    }),
    stop,
  ];
  return () => ends.forEach((end) => end());
}
