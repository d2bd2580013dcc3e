/** Refusals in the reader's language; their English is the server's own. */
import { language } from "./language.js";

/** Time for the words to come, in milliseconds. */
const TIME_LIMIT = 2_000;

/** @typedef {{inWords: (sentences: readonly import("./sentences.js").Sentence[]) => string | null}} Words */

/** @type {Promise<Words | null> | undefined} */
let words;

/**
 * Put the detail into the reader's language. It stays English for a code that only a newer server knows, and where the
 * words do not come in time.
 * @param {import("./types").Problem} problem
 */
export async function putInWords(problem) {
  if (!problem.detail_sentences) return;
  words ??= import(`./words/${language}/refusals.js`).catch(() => {
    words = undefined; // the next refusal asks again
    return null;
  });
  const late = /** @type {Promise<null>} */ (new Promise((resolve) => setTimeout(resolve, TIME_LIMIT, null)));
  const found = await Promise.race([words, late]);
  problem.detail = found?.inWords(problem.detail_sentences) ?? problem.detail;
}
