/** The quiet times that are on now. The module that words them is fetched with the first of them. */
import { computed, effect, signal } from "../vendor/signals.js";
import { wordsLoaded } from "./language.js";

/** Those of the last answer that told them. */
export const quietTimes = signal(/** @type {import("./types").QuietNow[]} */ ([]));

const words = signal(/** @type {typeof import("./quiet_now.js") | null} */ (null));
const index = computed(() => words.value?.indexed(quietTimes.value));

effect(() => {
  if (quietTimes.value[0] && !words.peek()) load().catch(() => {}); // the next change of them asks again
});

async function load() {
  const found = await import("./quiet_now.js");
  await wordsLoaded();
  words.value = found;
}

/** What a row says of it; nothing while nothing is quiet. @param {import("./quiet_now.js").Place} place */
export const quietWords = (place) => index.value && words.value?.rowWords(index.value, place);
