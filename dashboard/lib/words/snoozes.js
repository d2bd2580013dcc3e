/** Snoozes: times without notifications. */
const COVERED = /** @type {Record<string, string>} */ ({ fleet: "any display", site: "displays at this site" });

export const snoozeWords = {
  title: "Snoozes",
  lead: "During a snooze nobody is notified. What is not over when it ends is sent then. Maintenance windows do the same.",
  none: "No snooze is on.",
  failed: "The snoozes could not be loaded.",
  add: "Snooze…",
  ofDisplay: "Tell nobody about this display for a while…",
  covers: (/** @type {string} */ scope) => `Nobody is told about ${COVERED[scope] ?? "this display"}`,
  addTitle: "Tell nobody for a while",
  go: "Snooze",
  whom: "About",
  fleet: "the whole fleet",
  forHow: "For",
  spans: /** @type {[number, string][]} */ ([
    [1, "an hour"],
    [4, "4 hours"],
    [12, "12 hours"],
    [24, "a day"],
    [72, "3 days"],
    [168, "a week"],
  ]),
  reason: "Reason (optional)",
  until: "until",
  end: "End",
  endOf: (/** @type {string} */ whom) => `End the snooze of ${whom}`,
};
