/** The last seven days of one display, hour by hour, within the opening hours of its shop. Pure. */

/** @typedef {import("./types").Uptime} Uptime */
/** @typedef {import("./types").Status} Status */
/** @typedef {{at: number, hours: (Status | null)[]}} Day at: its begin, in milliseconds */

const DAYS = 7;
const HOUR = 3_600_000;
/** As the service picks the state of a half hour. @type {Status[]} */
const WORST_FIRST = ["crashed", "stale", "late", "unknown", "stopped", "starting", "running"];

/**
 * Today and the six days before it in the reader's zone: the worst state of each hour while the shop was open.
 * Null: closed for the whole hour, or the display did not exist. The day that is going on ends with its present hour.
 * @param {Pick<Uptime, "segments" | "closed">} uptime @param {number} now milliseconds
 * @returns {Day[]}
 */
export function weekOf({ segments, closed }, now) {
  const today = new Date(now);
  const midnights = Array.from({ length: DAYS + 1 }, (_, i) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + i + 1 - DAYS).getTime(),
  );
  const open = segments.flatMap(({ from, to, status }) =>
    without({ begins: Date.parse(from), ends: Date.parse(to) }, closed).map((part) => ({ ...part, status })),
  );
  return midnights.slice(0, DAYS).map((at, i) => {
    const ends = Math.min(now, midnights[i + 1] ?? now);
    const hours = Array.from({ length: Math.ceil((ends - at) / HOUR) }, (_, n) => worstIn(open, at + n * HOUR));
    return { at, hours };
  });
}

/** @typedef {{begins: number, ends: number}} Span */

/** What is left of a span without the closed times, which are in order and apart. @param {Span} span @param {Uptime["closed"]} closed */
function without({ begins, ends }, closed) {
  /** @type {Span[]} */
  const left = [];
  for (const { from, to } of closed) {
    const shut = Math.min(ends, Date.parse(from));
    if (shut > begins) left.push({ begins, ends: shut });
    begins = Math.max(begins, Date.parse(to));
  }
  if (begins < ends) left.push({ begins, ends });
  return left;
}

/** @param {(Span & {status: Status})[]} open @param {number} at the begin of the hour */
function worstIn(open, at) {
  const states = new Set(open.filter((one) => one.begins < at + HOUR && one.ends > at).map(({ status }) => status));
  return WORST_FIRST.find((status) => states.has(status)) ?? null;
}
