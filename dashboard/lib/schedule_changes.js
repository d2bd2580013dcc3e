/** What a form changes of a schedule. */

/** @typedef {import("./openapi").CommandSchedule} Schedule */

export const WAVES = [1, "10%", "rest"];

/** The waves that the form's box asks for. Waves of another kind stay. @param {boolean} asked @param {Schedule["waves"]} before */
export function wavesIn(asked, before) {
  if (asked === before.length > 1) return before;
  return asked ? WAVES : ["rest"];
}

/**
 * Only what differs: times that are sent are set anew, and a time that has just come would then be missed.
 * @param {Schedule} one @param {Partial<Schedule>} wanted
 */
export function changesOf(one, wanted) {
  /** @param {[string, unknown]} entry */
  const differs = ([name, value]) => !isSame(one[/** @type {keyof Schedule} */ (name)], value);
  return Object.fromEntries(Object.entries(wanted).filter(differs));
}

const TIME = /^\d{4}-\d\d-\d\dT/;

/**
 * A moment is the same however it is written; the order of days does not matter.
 * @param {unknown} before @param {unknown} after
 */
function isSame(before, after) {
  if (Array.isArray(before) && Array.isArray(after)) return [...before].sort().join() === [...after].sort().join();
  if (TIME.test(String(before)) && TIME.test(String(after)))
    return Date.parse(String(before)) === Date.parse(String(after));
  return before === after;
}
