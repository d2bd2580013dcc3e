/** The limits of a display's health in words: a full disk, heat, a wrong clock. */
import { duration } from "./measures.js";
import { limitTexts, limitValues } from "./words/limits.js";

/** @typedef {import("./openapi").HealthLimit} Limit */

const DAY = 86_400;

/** @param {number} value */
const share = (value) => limitValues.share({ percent: Math.floor(value) });

/** How far a clock is ahead or (negative) behind. @param {number} seconds */
function clock(seconds) {
  const off = Math.abs(seconds);
  return limitValues.clock({ how: off < 1 ? "right" : seconds > 0 ? "fast" : "slow", time: duration(off) });
}

/** @type {Record<Limit, (value: number) => string>} */
const VALUES = {
  disk: share,
  memory: share,
  heat: (value) => limitValues.heat({ degrees: Math.floor(value) }),
  certificate: (days) => limitValues.certificate({ over: days <= 0, time: duration(days * DAY) }),
  clock,
  voltage: (low) => limitValues.voltage({ low: low !== 0 }),
  read_only: (is) => limitValues.read_only({ is: is !== 0 }),
  refused: (n) => limitValues.refused({ some: n !== 0 }),
};

/** A value, after the name of its limit. @param {Limit} limit @param {number} value */
export const valueWords = (limit, value) => VALUES[limit]?.(value) ?? String(value);

/** A limit that is a number; the others say nothing. @param {Limit} limit @param {number} at */
export function limitText(limit, at) {
  if (limit === "disk" || limit === "memory") return limitTexts.share({ percent: at });
  if (limit === "heat") return limitTexts.heat({ degrees: at });
  if (limit === "certificate") return limitTexts.certificate({ n: at });
  return limit === "clock" ? limitTexts.clock({ time: duration(at) }) : "";
}
