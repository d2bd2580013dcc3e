/** The server's sentences in the page's words, which are fetched with the first of them. */
import { signal } from "../vendor/signals.js";
import { language, wordsLoaded } from "./language.js";

/** @typedef {{code: string, params: Record<string, unknown>}} Sentence */

const words = signal(/** @type {typeof import("./words/de/sentences.js") | null} */ (null));
let asked = false;

async function load() {
  asked = true;
  try {
    const found = await import(`./words/${language}/sentences.js`);
    await wordsLoaded();
    words.value = found;
  } catch {
    asked = false; // the next of them asks again
  }
}

/**
 * A text in the page's words; until they are here, and where they do not know it, in the server's English.
 * @param {readonly Sentence[] | null | undefined} sentences @param {string} english
 */
export function worded(sentences, english) {
  if (!sentences || language === "en") return english;
  if (!words.value && !asked) void load();
  return words.value?.inWords(sentences) ?? english;
}
