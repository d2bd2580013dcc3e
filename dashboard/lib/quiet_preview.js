/** One sentence that says, before it is made, what a quiet time makes quiet, for whom, and until when. Pure. */
import { capital, zoneName } from "./format.js";
import { endOf, hasHours, hasTimes, lacksEnd, moment, quietOf, QUIET } from "./quiet_form.js";
import { hoursNow, weekWords } from "./quiet_hours.js";
import { listed } from "./lists.js";
import { soon } from "./quiet_now.js";
import { quietPreviewWords, quietTimesWords } from "./words/quiet_times.js";

/** @typedef {import("./quiet_form.js").Draft} Draft */

/** @param {Draft} draft @param {number | null} covered @param {string} name of the one display */
function whom({ scope, site, tag, clients }, covered, name) {
  if (covered === null) return tag.trim() && quietTimesWords.tag({ tag: tag.trim() });
  if (scope === "fleet") return quietPreviewWords.whole({ n: covered });
  if (scope === "site") return site.trim() && quietPreviewWords.place({ name: site.trim(), n: covered });
  if (scope === "tag") return tag.trim() && quietPreviewWords.tag({ tag: tag.trim(), n: covered });
  return clients.length === 1 && name ? name : clients.length ? quietTimesWords.displays({ n: clients.length }) : "";
}

/** @param {boolean} isOpen @param {string | null} at when that changes; null: never */
function openThere(isOpen, at) {
  if (at === null) return isOpen ? quietPreviewWords.alwaysOpen : quietPreviewWords.alwaysClosed;
  return isOpen ? quietPreviewWords.openNow({ at }) : quietPreviewWords.closedNow({ at });
}

/** @param {boolean} isOn @param {string | null} at when that changes; null: never */
function onThere(isOn, at) {
  if (at === null) return isOn ? quietPreviewWords.alwaysOn : "";
  return isOn ? quietPreviewWords.onNow({ at }) : quietPreviewWords.onNext({ at });
}

/** @param {Draft} draft @param {number} reference */
function hours(draft, reference) {
  const week = weekWords(draft.week);
  const there = hoursNow(draft.week, draft.zone, reference);
  const isOpening = draft.preset === "opening_hours";
  const when = (isOpening ? quietPreviewWords.outside : quietPreviewWords.within)({ week, zone: draft.zone });
  if (!there || (draft.starts && !isOpening)) return { when, then: "" };
  return { when, then: (isOpening ? openThere : onThere)(there.within, there.changes) };
}

/**
 * @param {Draft} draft
 * @param {{covered: number | null, name: string, reference: number}} about covered: how many displays, if that is known; name: of the only one;
 *   reference: the server's time in milliseconds
 * @returns {string} the sentence, or what is still missing
 */
export function previewOf(draft, { covered, name, reference }) {
  const who = whom(draft, covered, name);
  if (!who) return quietPreviewWords.nobody;
  const quiet = quietOf(draft);
  if (!quiet.length) return quietPreviewWords.nothing;
  const what = listed(QUIET.filter((one) => quiet.includes(one)).map((one) => quietTimesWords.what[one] ?? one));
  const end = endOf(draft, reference);
  if (lacksEnd(draft, reference)) return quietPreviewWords.noEnd;
  const weekly = hasHours(draft) ? hours(draft, reference) : null;
  if (weekly && !weekWords(draft.week)) return quietPreviewWords.noHours;
  const starts = hasTimes(draft) && draft.starts ? moment(draft.starts) : null;
  const begins = starts ? quietPreviewWords.from({ time: soon(starts, reference) }) : quietPreviewWords.now;
  const ends = end
    ? quietPreviewWords.until({ time: soon(end, reference), zone: zoneName })
    : quietPreviewWords.untilEnded;
  const when = weekly
    ? `${weekly.when}${starts ? `, ${begins}` : ""}${end ? `, ${ends}` : ""}`
    : `${begins}${quietPreviewWords.space}${ends}`;
  return [quietPreviewWords.sentence({ what: capital(what), whom: who, when }), weekly?.then]
    .filter(Boolean)
    .join(quietPreviewWords.space);
}
