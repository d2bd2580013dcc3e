/** The server's sentences in the page's words. The module that words them is fetched with the first of them. */
import { signal } from "../vendor/signals.js";
import { wordsLoaded } from "./language.js";

/** @typedef {{code: string, params: Record<string, unknown>}} Sentence */

const words = signal(/** @type {typeof import("./words/sentences.js") | null} */ (null));
let asked = false;

async function load() {
  asked = true;
  try {
    const found = await import("./words/sentences.js");
    await wordsLoaded();
    words.value = found;
  } catch {
    asked = false; // the next of them asks again
  }
}

/**
 * A text of the server in the page's words. Its English stays until the words are here, for a code that only a newer
 * server knows, and where older code wrote no codes.
 * @param {readonly Sentence[] | null | undefined} sentences @param {string} english
 */
export function worded(sentences, english) {
  if (!sentences) return english;
  if (!words.value && !asked) void load();
  return words.value?.inWords(sentences) ?? english;
}
