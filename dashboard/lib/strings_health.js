/** Every sentence about how a display's machine went over time. */
export const T = {
  title: "Over time",
  range: "How far back",
  days: (/** @type {number} */ n) => (n === 1 ? "24 h" : `${n} d`),
  ago: (/** @type {number} */ n) => (n === 1 ? "24 h ago" : `${n} days ago`),
  now: "now",
  words: (/** @type {string} */ least, /** @type {string} */ most, /** @type {string} */ last) =>
    least === most ? `always ${last}` : `lowest ${least}, highest ${most}, last ${last}`,
  spoken: (/** @type {string} */ name, /** @type {number} */ n, /** @type {string} */ words) =>
    `${name} over the last ${n === 1 ? "24 hours" : `${n} days`}: ${words}.`,
  notTold: "not reported in this time",
  silent: (/** @type {string} */ time) => `Nothing was reported for ${time} of this time: there the lines are broken.`,
  partly: (/** @type {string} */ known, /** @type {number} */ n) =>
    `Known for ${known}. Nothing is known of the rest of the ${n === 1 ? "24 hours" : `${n} days`}: there the lines are broken.`,
  nothing: "Nothing was reported in this time. A display that is on is sampled every five minutes.",
  means: (/** @type {string} */ time) => `Each point is the mean of ${time}; lowest and highest are of single samples.`,
  failed: "What was reported before could not be loaded.",
};
