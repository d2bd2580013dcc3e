/** The form of a quiet time: from a stored one, to the API's body, and its problems beside their fields. Pure. */
import { capital } from "./format.js";
import { hoursOf, emptyWeek, weekOf } from "./quiet_hours.js";
import { quietPreviewWords, quietRefusalWords } from "./words/quiet_times.js";

/** @typedef {import("./types").QuietTime} QuietTime */
/** @typedef {import("./quiet_hours.js").Week} Week */
/**
 * @typedef {object} Draft
 * @property {string} preset
 * @property {string} scope
 * @property {string} site
 * @property {string} tag
 * @property {string[]} clients uuids
 * @property {string[]} quiet of `custom` only
 * @property {string} length a number of hours from now; "open": until somebody ends it; "at": until `ends`
 * @property {string} starts a local time as `<input type=datetime-local>` writes it; "" is now
 * @property {string} ends likewise
 * @property {boolean} weekly whether it is quiet only at the hours of `week`
 * @property {Week} week
 * @property {string} zone IANA, of `week`
 * @property {string} reason
 */
/** @typedef {{scope: string, site?: string, tag?: string, clients?: string[]}} Whom */
/** @typedef {"whom" | "quiet" | "starts" | "ends" | "hours" | "zone" | "reason"} Field */

export const PRESETS = /** @type {const} */ (["hold", "snooze", "maintenance", "opening_hours", "leave_out", "custom"]);
export const QUIET = /** @type {const} */ (["recovery", "notices", "screen", "commands"]);
/** What each preset makes quiet. @type {Record<string, readonly string[]>} */
const MAKES_QUIET = {
  hold: ["recovery"],
  snooze: ["notices"],
  maintenance: ["recovery", "notices", "commands"],
  opening_hours: ["recovery", "notices", "screen"],
  leave_out: ["recovery"],
};
/** Lengths to choose from, in hours; `open`: it may last until somebody ends it. */
export const LENGTHS = /** @type {Record<string, {hours: number[], open: boolean}>} */ ({
  hold: { hours: [1, 4, 24], open: true },
  snooze: { hours: [1, 4, 12, 24, 72, 168], open: false },
});
const NEEDS_REASON = new Set(["hold", "leave_out"]);
const MAY_BE_WEEKLY = new Set(["maintenance", "custom"]);
const HOUR = 3_600_000;

/** @param {Draft} draft */
export const needsReason = (draft) => NEEDS_REASON.has(draft.preset);
/** @param {Draft} draft */
export const mayBeWeekly = (draft) => MAY_BE_WEEKLY.has(draft.preset);
/** Whether the form asks for hours of the week. @param {Draft} draft */
export const hasHours = (draft) => draft.preset === "opening_hours" || (mayBeWeekly(draft) && draft.weekly);
/** Whether the form asks for two times. @param {Draft} draft */
export const hasTimes = (draft) => mayBeWeekly(draft);
/** Whether it cannot go without an end. @param {Draft} draft */
export const needsEnd = (draft) => draft.preset === "snooze" || (draft.preset === "maintenance" && !draft.weekly);
/** What it makes quiet. @param {Draft} draft */
export const quietOf = (draft) => MAKES_QUIET[draft.preset] ?? draft.quiet;

/** @param {string} preset @param {Whom | null} whom @param {string} zone the viewer's @returns {Draft} */
export function newDraft(preset, whom, zone) {
  return {
    preset,
    scope: whom?.scope ?? "site",
    site: whom?.site ?? "",
    tag: whom?.tag ?? "",
    clients: whom?.clients ?? [],
    quiet: ["recovery", "notices"],
    length: "1",
    starts: "",
    ends: "",
    weekly: false,
    week: emptyWeek(),
    zone,
    reason: "",
  };
}

/** Another preset in the same form. @param {Draft} draft @param {string} preset @returns {Draft} */
export function withPreset(draft, preset) {
  const lengths = LENGTHS[preset]?.hours.map(String) ?? [];
  const scope = preset === "opening_hours" && draft.scope === "clients" ? "site" : draft.scope;
  return { ...draft, preset, scope, length: lengths.includes(draft.length) ? draft.length : "1" };
}

/** A moment as `<input type=datetime-local>` wants it, in the viewer's zone. @param {string | null} at */
export function localTime(at) {
  if (!at) return "";
  const when = new Date(at);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const day = `${String(when.getFullYear()).padStart(4, "0")}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
  const seconds = when.getSeconds() ? `:${two(when.getSeconds())}` : "";
  return `${day}T${two(when.getHours())}:${two(when.getMinutes())}${seconds}`;
}

/** What the field says, as RFC 3339; null when it is no time. @param {string} local */
export function moment(local) {
  const when = new Date(local);
  return Number.isNaN(when.getTime()) ? null : when.toISOString();
}

/** @param {QuietTime} time @param {string} zone the viewer's @returns {Draft} */
export function draftOf(time, zone) {
  return {
    preset: time.preset,
    scope: time.scope,
    site: time.site ?? "",
    tag: time.tag ?? "",
    clients: time.clients,
    quiet: time.quiet,
    length: time.ends_at ? "at" : "open",
    starts: localTime(time.starts_at),
    ends: localTime(time.ends_at),
    weekly: time.hours.length > 0,
    week: weekOf(time.hours),
    zone: time.time_zone ?? zone,
    reason: time.reason,
  };
}

/** When the draft ends, as RFC 3339; null: until somebody ends it. @param {Draft} draft @param {number} reference */
export function endOf(draft, reference) {
  if (hasTimes(draft)) return moment(draft.ends);
  if (!LENGTHS[draft.preset] || draft.length === "open") return null;
  return draft.length === "at" ? moment(draft.ends) : new Date(reference + Number(draft.length) * HOUR).toISOString();
}

/** Whether it still needs an end. @param {Draft} draft @param {number} reference */
export const lacksEnd = (draft, reference) =>
  (needsEnd(draft) || (!hasTimes(draft) && LENGTHS[draft.preset] !== undefined && draft.length === "at")) &&
  !endOf(draft, reference);

/** Whom it is about, as the API wants it. @param {Draft} draft */
function whomOf({ scope, site, tag, clients }) {
  if (scope === "site") return { scope, site: site.trim() };
  if (scope === "tag") return { scope, tag: tag.trim() };
  return scope === "clients" ? { scope, clients } : { scope };
}

/**
 * The body of a new quiet time.
 * @param {Draft} draft @param {number} reference the server's time, in milliseconds
 * @returns {Record<string, unknown>}
 */
export function bodyOf(draft, reference) {
  const { preset, starts, zone, week, reason, quiet } = draft;
  const ends_at = endOf(draft, reference);
  return {
    preset,
    ...(preset === "custom" && { quiet: QUIET.filter((one) => quiet.includes(one)) }),
    ...whomOf(draft),
    ...(hasTimes(draft) && starts && { starts_at: moment(starts) }),
    ...(ends_at && { ends_at }),
    ...(hasHours(draft) && { hours: hoursOf(week), time_zone: zone }),
    reason: reason.trim(),
  };
}

/**
 * What differs from the stored one, as PATCH wants it; empty when nothing does.
 * @param {Draft} draft @param {QuietTime} before @param {number} reference
 * @returns {Record<string, unknown>}
 */
export function changesOf(draft, before, reference) {
  const old = draftOf(before, draft.zone);
  const timed = hasTimes(draft) || LENGTHS[draft.preset] !== undefined;
  const same = draft.length === old.length && draft.ends === old.ends;
  /** @type {Record<string, unknown>} */
  const changes = {};
  if (draft.reason.trim() !== before.reason) changes["reason"] = draft.reason.trim();
  if (hasTimes(draft) && draft.starts && draft.starts !== old.starts) changes["starts_at"] = moment(draft.starts);
  if (timed && !same) changes["ends_at"] = endOf(draft, reference);
  if (hasHours(draft) || before.hours.length) {
    const hours = hasHours(draft) ? hoursOf(draft.week) : [];
    if (JSON.stringify(hours) !== JSON.stringify(hoursOf(old.week))) changes["hours"] = hours;
    const zone = hasHours(draft) ? draft.zone : null;
    if (zone !== before.time_zone) changes["time_zone"] = zone;
  }
  return changes;
}

/** The fields of the API and where the form shows them. @type {Record<string, Field>} */
const SHOWN_AT = {
  scope: "whom",
  site: "whom",
  tag: "whom",
  clients: "whom",
  quiet: "quiet",
  starts_at: "starts",
  ends_at: "ends",
  hours: "hours",
  time_zone: "zone",
  reason: "reason",
};
/** The refusals that are about one field. @type {Record<string, Field>} */
const CODES = {
  time_zone_unknown: "zone",
  opening_hours_exist: "whom",
  clients_unknown: "whom",
};
/** With nouns for people instead of the API's. @param {string} text */
const plainly = (text) => capital(text.replace(/\b[a-z]+_[a-z]+\b/g, (name) => quietRefusalWords.nouns[name] ?? name));

/** What a sentence of `quiet_times_refused` is about. @type {Record<string, Field>} */
const ABOUT = {
  quiet_needs_reason: "reason",
  quiet_only_of_custom: "quiet",
  opening_hours_of_many: "whom",
  quiet_start_too_far: "starts",
  quiet_has_begun: "starts",
  quiet_end_before_start: "ends",
  quiet_end_in_past: "ends",
  quiet_end_too_far: "ends",
  quiet_too_long: "ends",
  quiet_needs_end: "ends",
  leave_out_has_no_end: "ends",
  quiet_hours_need_zone: "hours",
  quiet_takes_no_hours: "hours",
  opening_hours_need_hours: "hours",
  quiet_clock: "hours",
  quiet_hours_need_days: "hours",
  quiet_hours_length: "hours",
  too_many_opening_hours: "hours",
  opening_hours_need_days: "hours",
  opening_hours_are_times: "hours",
  opening_hours_have_length: "hours",
};

/**
 * A refusal as sentences beside their fields; what is about no field of the form is `other`.
 * @param {{code: string, detail: string, detail_code?: string, errors?: {field: string}[]}} problem
 * @param {readonly Field[]} shown the fields that the form shows now
 * @returns {{fields: Partial<Record<Field, string>>, other: string}}
 */
export function refusalOf(problem, shown) {
  /** @type {Partial<Record<Field, string>>} */
  const fields = {};
  /** @type {string[]} */
  const other = [];
  /** @param {Field | undefined} field @param {string} text */
  const put = (field, text) => {
    if (field && shown.includes(field)) fields[field] ??= plainly(text);
    else other.push(plainly(text));
  };
  const [wrong] = problem.errors ?? [];
  const name = wrong?.field.split(/[.[]/)[0] ?? "";
  const at = SHOWN_AT[name];
  const about = CODES[problem.code] ?? ABOUT[problem.detail_code ?? ""];
  if (wrong && at && shown.includes(at)) put(at, problem.detail.replace(`${wrong.field}: `, ""));
  else put(about, problem.detail);
  return { fields, other: other.join(quietPreviewWords.space) };
}

/** The fields that the form shows. @param {Draft} draft @param {boolean} editing @returns {Field[]} */
export function shownFields(draft, editing) {
  const fields = /** @type {Field[]} */ (["reason"]);
  if (!editing) fields.push("whom");
  if (draft.preset === "custom" && !editing) fields.push("quiet");
  if (hasTimes(draft)) fields.push("starts");
  if (hasTimes(draft) || LENGTHS[draft.preset]) fields.push("ends");
  if (hasHours(draft)) fields.push("hours", "zone");
  return fields;
}

/**
 * How many of the displays it is about.
 * @param {Pick<Draft, "scope" | "site" | "tag" | "clients">} draft @param {Iterable<{uuid: string, site?: string | null, tags?: string[] | null}>} displays
 */
export function coveredBy(draft, displays) {
  if (draft.scope === "clients") return draft.clients.length;
  let n = 0;
  for (const { site, tags } of displays) {
    if (draft.scope === "fleet") n++;
    else if (draft.scope === "site") n += Number(site === draft.site.trim());
    else n += Number((tags ?? []).includes(draft.tag.trim()));
  }
  return n;
}
