/** What the facts of the server's sentences mean, for the words of each language. */

/** @typedef {import("./sentences.js").Sentence} Sentence */
/** @typedef {Record<string, (facts: any) => string>} SentenceWords by code */

/**
 * These sentences one after the other; null when one of them is not known here.
 * @param {SentenceWords} words @param {readonly Sentence[]} sentences @param {string} space between them
 */
export function joined(words, sentences, space) {
  try {
    const parts = sentences.map(({ code, params }) => words[code]?.(params));
    return parts.includes(undefined) ? null : parts.join(space);
  } catch {
    return null; // facts that only a newer server knows
  }
}

/** The word for a fact. Throws for a fact that only a newer server knows. @param {Record<string, string>} words @param {string} fact */
export function word(words, fact) {
  const found = words[fact];
  if (found === undefined) throw new RangeError(fact);
  return found;
}
