/** The server's sentences, by code (`docs/openapi.json` lists the codes with their facts). */
import { count, number, person } from "../format.js";
import { translate } from "../language.js";
import {
  byCount,
  formatIn,
  isOfSite,
  likelyCause,
  membersOf,
  joined,
  unitOf,
  unitWithin,
  word,
} from "../sentence_facts.js";

/** @typedef {import("../sentence_facts.js").Failed} Failed */
/** @typedef {import("../sentences.js").Sentence} Sentence */

/** A duration, rounded down. @param {number} seconds */
function lasting(seconds) {
  const [n, unit] = unitOf(seconds);
  return `${n} ${unit}s`;
}

/** @param {string} at */
const inUtc = (at) => `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;

// --- recovery ---

/** @type {Record<string, string>} */
const SCREEN_IS = { black: "is black", frozen: "is frozen", disconnected: "is disconnected", off: "is off" };

/** How a screen fails, without a full stop. @param {string | null} screen */
const screenIs = (screen) => `The screen ${screen === null ? "fails" : word(SCREEN_IS, screen)}`;

/** @type {Record<string, string>} */
const WRONG = {
  crashed: "The player crashed and the heartbeat that says so is fresh",
  service_failed: "A service failed and the display is heard",
  stale: "The display is silent while we listen, and the broker does not say that it left",
};

/** The evidence, without a full stop. @param {{basis: string, screen: string | null}} facts */
const wrong = ({ basis, screen }) =>
  basis === "screen_failed" ? `${screenIs(screen)} and the display is heard` : word(WRONG, basis);

/** @type {Record<string, string>} */
const GONE = { crashed: "The player crashed", service_failed: "A service failed" };
const A_PERSON = "nothing is sent any more until a person acts and resumes recovery.";

/** @param {{restarts: number, reboots: number}} facts */
function tried({ restarts, reboots }) {
  const parts = [restarts && count(restarts, "restart", "restarts"), reboots && count(reboots, "reboot", "reboots")];
  return parts.filter(Boolean).join(" and ");
}

/** @param {{restarts: number, reboots: number}} facts */
const triedOrNothing = (facts) => tried(facts) || "Nothing so far";

/**
 * What the display refused, and why the last time, without a full stop.
 * @param {{restarts: number, reboots: number, reason: string | null, elsewhere: boolean}} facts
 */
function refused(facts) {
  const { restarts, reboots, reason, elsewhere } = facts;
  const other = elsewhere && "its boot was another one than in its last stored heartbeat";
  const why = [reason, other].filter(Boolean).join(": ") || "without a reason";
  return `${tried(facts)} ${restarts + reboots === 1 ? "was" : "were"} refused by the display${reason === null ? "" : ` (${why})`}`;
}

/** Why a heartbeat was put aside, after "it was". @type {Record<string, string>} */
const PUT_ASIDE = {
  unknown_topic: "sent to an unknown topic",
  bad_uuid: "sent under a wrong uuid",
  too_large: "too large",
  not_utf8: "not UTF-8",
  not_json: "not JSON",
  not_an_object: "not a JSON object",
  too_deep: "nested too deep",
  bad_number: "spoilt by a number out of range",
  bad_field: "spoilt by a field",
  unsupported_version: "of a version that is not supported",
  unknown_client: "sent when the display was not registered",
  refused_by_database: "lost by a fault of this service",
};

/** What was refused. @type {Record<string, [string, string]>} */
const KINDS = {
  heartbeat: ["heartbeat", "heartbeats"],
  health: ["health report", "health reports"],
  logs: ["log line", "log lines"],
  service_failed: ["service failure", "service failures"],
  presence: ["presence message", "presence messages"],
  acks: ["answer to a command", "answers to commands"],
};

/** @param {{kind: string, reason: string, count: number}} facts */
function messagesRefused({ kind, reason, count: n }) {
  const [one, many] = KINDS[kind] ?? ["message", "messages"];
  return `${count(n, one, many)} ${n === 1 ? "was" : "were"} ${PUT_ASIDE[reason] ?? "refused for another reason"}`;
}

/** @param {{refused: Record<string, number>}} facts */
function heartbeatsMissing({ refused: refusals }) {
  const parts = byCount(refusals).map(([reason, n], i) => {
    const was = PUT_ASIDE[reason] ?? "refused for another reason";
    return `${number(n)} ${i ? "" : "of them "}${n === 1 ? "was" : "were"} ${was}`;
  });
  const why = parts.join(", ") || "look at what the broker lets it publish, and at whether it sends them";
  return `Its reports come, its heartbeats do not: ${why}.`;
}

/** @param {string | null} site @param {string} share */
const at = (site, share) => (site === null ? share : `At ${site}, ${share}`);
/** @param {string | null} site */
const there = (site) => (site === null ? "" : " there");
/** @param {string | null} site */
const breaker = (site) => (site === null ? "The breaker of the fleet" : `The breaker of ${site}`);
/** @param {string | null} site */
const screensBreaker = (site) =>
  site === null ? "The breaker of the fleet's screens" : `The breaker of the screens of ${site}`;

// --- quiet times ---

/** @type {Record<string, string>} */
const QUIET_HOW = {
  hold: "On hold",
  snooze: "Snoozed",
  maintenance: "In maintenance",
  opening_hours: "Closed, as its opening hours say that were set",
  leave_out: "Left out of recovery",
  custom: "Made quiet",
};
/** @type {Record<string, string>} */
const QUIET_WHAT = {
  recovery: "no automatic restarts",
  notices: "no messages",
  screen: "the screen may be off",
  commands: "batches wait",
};

/** @param {{preset: string, by: string, reason: string, quiet: string[]}} facts */
function quietTime({ preset, by, reason, quiet }) {
  const because = reason.trim() && ` (${reason.trim().replace(/\.+$/, "")})`;
  return `${word(QUIET_HOW, preset)} by ${named(by)}${because}: ${quiet.map((one) => word(QUIET_WHAT, one)).join(", ")}.`;
}

/** @param {{times: {preset: string, by: string}[]}} facts */
function goesAlthough({ times }) {
  const how = times.map(({ preset, by }) => {
    const made = word(QUIET_HOW, preset);
    return `${made.charAt(0).toLowerCase()}${made.slice(1)} by ${named(by)}`;
  });
  return `It goes although the display is ${how.join(" and ")}.`;
}

// --- incidents ---

const SYMPTOMS = /** @type {const} */ ([
  ["silent", "silent", "went silent"],
  ["crashed", "crashed", "crashed"],
  ["service_failed", "with a failed service", "reported a failed service"],
  ["disconnected", "cut off for a moment", "lost the broker and came back"],
  ["screen_failed", "with a bad screen", "lost their picture"],
]);
/** @type {Record<string, string>} */
const SCREENS_DID = {
  black: "went black",
  frozen: "froze",
  disconnected: "lost their screens",
  off: "had their screens switched off",
};

/** @param {Failed} facts @param {number} members */
function whom({ kind, key, site, size, sites }, members) {
  const displays = size === null ? `${members} displays` : `${members} of ${Math.max(size, members)} displays`;
  if (kind === "site") return `${displays} at site ${key}`;
  if (kind === "subnet") return `${displays} in the subnet ${key}${site ? ` of ${site}` : ""}`;
  return sites > 1 ? `${displays} at ${sites} sites` : displays;
}

/** @param {Failed} facts */
function did({ symptoms, unit }) {
  const found = SYMPTOMS.filter(([symptom]) => symptom in symptoms);
  const [first] = found;
  if (found.length !== 1 || !first)
    return `failed (${found.map(([symptom, how]) => `${symptoms[symptom]} ${how}`).join(", ")})`;
  const [symptom, , happened] = first;
  if (symptom === "service_failed" && unit !== null) return `reported that ${unit} failed`;
  return (symptom === "screen_failed" && SCREENS_DID[unit ?? ""]) || happened;
}

/** @param {number} seconds */
function within(seconds) {
  const [n, unit] = unitWithin(seconds) ?? [];
  if (!unit) return "at once";
  return unit === "second" ? `within ${n} s` : `within ${n} ${unit}s`;
}

/** @param {Failed["place"]} place @param {number} members */
function among(place, members) {
  if (!place) return "";
  const size = Math.max(place.size, place.members);
  const called = place.kind === "site" ? place.key : `the subnet ${place.key}`;
  const some = place.members === size ? `all ${place.members}` : `${place.members} of ${size}`;
  return `${place.members === members ? "," : ", among them"} ${some} of ${called}`;
}

const LIKELY = {
  screens: "the power of the screens, or somebody at the switch, is the likely cause",
  content: "what they were given to show, or an update, is the likely cause",
  shared: "a provider they share, the way to the broker or the broker itself is the likely cause",
  time: "they have nothing in common but the time",
};

/** @param {Failed} failed */
function likely(failed) {
  const cause = likelyCause(failed);
  if (cause !== "network" && cause !== "short_break") return LIKELY[cause];
  const network = cause === "network" ? "the network or power" : "a short break of the network";
  return `${network} ${isOfSite(failed) ? "of the site" : "of this part of the network"} is the likely cause`;
}

/** What happened; after the semicolon, its likely cause. @param {Failed} facts */
function failedTogether(facts) {
  const members = membersOf(facts);
  const happened = `${whom(facts, members)} ${did(facts)} ${within(facts.seconds)}`;
  return `${happened}${among(facts.place, members)}; ${likely(facts)}.`;
}

/** What was asked for. @type {Record<string, string>} */
const ACTIONS = {
  restart_app: "Restart",
  reboot_host: "Reboot",
  shutdown_host: "Shutdown",
  screenshot: "Screenshot",
  screen_on: "Screen on",
  screen_off: "Screen off",
};

/** @param {number} n */
const displays = (n) => (n === 1 ? "1 display" : `${n} displays`);

// --- batches and schedules ---

/** A time in its zone: Sunday 29 November 2026, 03:00 Europe/Berlin. @param {{at: string, time_zone: string}} facts */
function local({ at: moment, time_zone }) {
  const { zone, format } = formatIn("en-GB", time_zone);
  const parts = Object.fromEntries(format.formatToParts(new Date(moment)).map(({ type, value }) => [type, value]));
  const { weekday, day, month, year, hour, minute } = parts;
  return `${weekday} ${day} ${month} ${year}, ${hour}:${minute} ${zone}`;
}

/** @param {{members: number, until: string | null}} facts */
function membersWait({ members, until }) {
  const end = until ? `until ${inUtc(until).replace(/:\d\d UTC$/, " UTC")}` : "until somebody ends it";
  return `${count(members, "display waits", "displays wait")} ${end}: a quiet time holds batches back.`;
}

// --- what happened to a display ---

/** @type {Record<string, string>} */
const REGISTERED_BY = {
  enrolment: "Created by an enrolment code.",
  first_message: "Registered by its first message.",
};
/** @type {Record<string, string>} */
const SCREENS_WITHOUT_FAULT = {
  ok: "The screen shows its content again",
  off: "The screen is off, which is no failure now",
  unknown: "Nobody sees the screen any more",
};
/** @type {Record<string, string>} */
const OUTCOMES = {
  succeeded: "succeeded",
  failed: "failed",
  rejected: "was refused by the display",
  expired: "expired",
  timed_out: "brought no result in time",
  cancelled: "was cancelled",
};
/** By the action of the audit log. @type {Record<string, string>} */
const DONE_TO_IT = {
  "client.write": "Facts changed",
  "client.delete": "Deleted",
  "client.log_level": "Log level changed for a time",
  "enrolment.create": "Enrolment code issued",
  "enrolment.use": "Enrolled: the display fetched its login",
  "enrolment.rotate": "Password replaced by the display's own",
  "enrolment.delete": "Login revoked",
  "screenshot.send": "Picture of its screen stored",
  "screenshot.look": "Picture of its screen looked at",
  "recovery.hold": "Recovery put on hold",
  "recovery.resume": "Recovery resumed",
  "recovery.exclude": "Excluded from recovery",
  "recovery.include": "Recovered automatically again",
  "quiet_time.create": "Quiet time made",
  "quiet_time.write": "Quiet time changed",
  "quiet_time.end": "Quiet time ended",
};

/** @param {{screen: string, fails: boolean}} facts */
function screenChanged({ screen, fails }) {
  if (!fails) return SCREENS_WITHOUT_FAULT[screen] ?? "The screen fails no more";
  return `The screen ${SCREEN_IS[screen] ?? `is ${screen}`}${screen === "off" ? ", and nobody planned that" : ""}`;
}

/** @param {string} action */
const asked = (action) => ACTIONS[action] ?? action;
/** The same within a sentence. @param {string} action */
const one = (action) => (action in ACTIONS ? `a ${asked(action).toLowerCase()}` : action);
/** Somebody of the audit log. @param {string | null} by */
function named(by) {
  if (by === null) return "somebody";
  return /^(service$|display:)/.test(by) ? `the ${by.split(":")[0]}` : person(by);
}
/** Recovery's reason in words, a person's as it was given. @param {{reason: string, reason_sentences: Sentence[] | null}} facts */
const reasonOf = ({ reason, reason_sentences: coded }) => (coded && inWords(coded)) || reason;
/** @param {string | null} why */
const because = (why) => (why ? ` (${why})` : "");
/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @type {import("../sentence_facts.js").SentenceWords} */
export const sentenceWords = {
  recovery_off: () => "Automatic recovery is switched off by the setting CRASH_RECOVERY_ENABLED.",
  bridge_silent: () =>
    "The bridge gives no sign, so what we see may be out of date; nothing is sent until it listens again.",
  command_open: ({ action }) => `${capital(one(action))} is on its way; its outcome decides what comes next.`,
  command_of_another: ({ action, by, seconds }) =>
    `${capital(one(action))} that ${named(by)} asked for ${lasting(seconds)} ago has no outcome yet; recovery waits until it has one, or its time is over, or an admin ends it.`,
  nothing_helped: (facts) => {
    const began = facts.seconds === null ? "" : `, the first of them ${lasting(facts.seconds)} ago`;
    return `${triedOrNothing(facts)} did not help${began}: ${A_PERSON}`;
  },
  all_refused: (facts) => `${refused(facts)}: ${A_PERSON}`,
  two_devices: ({ seconds }) =>
    `Two devices use this login, last seen ${lasting(seconds)} ago, so either could receive a command. Give one of them a new code.`,
  shut_down_on_purpose: () => "The display was shut down on purpose; it is left alone until its next heartbeat.",
  stopped_on_purpose: () => "The player was stopped on purpose; it is left alone.",
  no_heartbeat_yet: () => "No heartbeat of the display has come yet; there is nothing to go by.",
  reports_come_again: () => "Its reports come again since the bridge listens again; recovery waits for its heartbeats.",
  not_heard_since: () => "The display has not been heard since the bridge listens again; its silence counts from then.",
  failure_not_repeated: ({ unit }) =>
    `The service ${unit} failed, but the display has not said so again since; acknowledge the failure if all is well.`,
  screen_disconnected: ({ screen }) =>
    `${screenIs(screen)}. No command mends that: somebody has to look at its cable and its power.`,
  screen_off: ({ screen }) =>
    `${screenIs(screen)}, and nobody planned that. No command is sent: somebody has to switch it on, or plan the time in which it is off.`,
  screen_unproven: ({ screen }) => `${screenIs(screen)}; recovery waits for two new reports before it sends anything.`,
  heard_again: () => "The display is heard again; whether it stays well is not known yet.",
  heartbeats_missing: heartbeatsMissing,
  silent_and_gone: () => "The display is silent and not connected: nothing can be sent to it.",
  not_connected: ({ basis, screen }) =>
    `${GONE[basis] ?? screenIs(screen)}, but the display is not connected; recovery tries again after its next heartbeat.`,
  silent_too_long: () =>
    "The display has been silent for more than a day. A reboot would not help, so recovery sends nothing: a person must look at it.",
  command_done: ({ action }) =>
    `${asked(action)} by recovery was done; whether it helped is judged when the lockout ends.`,
  asked_again_later: (facts) => `${refused(facts)}; it is asked again when the lockout ends.`,
  sent_lately: () => "A restart or reboot was sent lately; the display is given time to come back before the next one.",
  cannot_do: (facts) => `${wrong(facts)}, but this display says that it cannot do ${one(facts.action)}.`,
  watchdog_first: () => "The player crashed a moment ago; the display's own watchdog goes first.",
  other_screens_first: ({ screen }) =>
    `${wrong({ basis: "screen_failed", screen })}; recovery waits to see whether many others fail too.`,
  others_first: () => "The display fell silent a moment ago; recovery waits to see whether many others did too.",
  shop_just_opened: () => "Its shop opened a moment ago and it was silent before; recovery gives it the time to start.",
  first_heartbeat_awaited: () => "The display came online a moment ago; recovery waits for its first heartbeat.",
  many_late: ({ late, seen }) =>
    `${number(late)} of ${number(seen)} displays are late or silent: recovery waits to see whether more fall silent.`,
  command_due: (facts) => `${wrong(facts)}; the next tick with a place free sends ${one(facts.action)}.`,
  no_help_so_far: (facts) => `${triedOrNothing(facts)} did not help so far.`,
  refused_before: (facts) => `${refused(facts)}.`,
  command_sent: (facts) => `${wrong(facts)}: ${one(facts.action)}, attempt ${facts.attempt} of ${facts.attempts}.`,
  no_help: (facts) => `${triedOrNothing(facts)} did not help.`,
  part_of_incident: () => "It is part of an incident:",

  breaker_open: ({ site, stale, seen, percent }) =>
    `${at(site, `${number(stale)} of ${number(seen)} displays`)} are silent: so many at once may be our own fault. No silent display${there(site)} is rebooted until fewer than ${percent}% are silent, or an operator releases the breaker.`,
  breaker_closing: ({ site, seconds }) =>
    `So many displays${site === null ? "" : ` at ${site}`} were silent at once that it may have been our own fault; now few enough are. No silent display${there(site)} is rebooted until that has lasted ${lasting(seconds)}, or an operator releases the breaker.`,
  breaker_closed: ({ site }) => `${breaker(site)} closed: few enough displays are silent.`,
  breaker_released: ({ site, by }) =>
    `${breaker(site)} was released by ${named(by)}; silence from before no longer counts.`,
  screens_open: ({ site, failing, telling }) =>
    `${at(site, `${number(failing)} of ${number(telling)} screens`)} are black or frozen: so many at once come from what they were given to show, or from the power. No player${there(site)} is restarted for its screen until fewer are, or an operator releases the breaker.`,
  screens_closed: ({ site }) => `${screensBreaker(site)} closed: few enough fail.`,
  screens_released: ({ site, by }) =>
    `${screensBreaker(site)} was released by ${named(by)}; screens that failed before count no more.`,
  more_sites_held: ({ sites }) => `${number(sites)} more sites are held back as well.`,

  quiet_time: quietTime,
  nothing_quiet: () => "Nothing is quiet for this display now.",
  goes_although: goesAlthough,
  nobody_at_site: ({ site }) => `No display is at ${site} yet.`,
  nobody_with_tag: ({ tag }) => `No display has the tag “${tag}” yet.`,
  nobody_covered: () => "No display is covered now.",
  messages_refused: messagesRefused,

  too_many_unproven: ({ unproven, sent, excused, limit, waiting }) =>
    `${unproven} of ${sent} commands ended unproven${excused ? `, ${excused} of them excused` : ""}, more than ${limit}; ${waiting} were not sent.`,
  wave_proves_nothing: ({ wave }) => `No client of wave ${wave} could be sent its command, so it proves nothing.`,
  members_wait: membersWait,
  maker_may_not: ({ by, displays }) =>
    `${named(by)} may not send this any more: ${count(displays, "display", "displays")} got nothing.`,
  not_at_makers_sites: ({ by, displays }) =>
    `${count(displays, "display", "displays")} got nothing: no longer at a site of ${named(by)}.`,
  batch_paused: ({ by }) => `Paused by ${named(by)}.`,
  batch_aborted: ({ by, not_sent, withdrawn }) =>
    `Aborted by ${named(by)}: ${not_sent} were not sent, ${withdrawn} were withdrawn.`,
  filter_unknown: ({ names }) => `This version does not know a filter by ${names.join(", ")}.`,
  invalid_waves: () =>
    "Waves are up to 20 numbers or shares such as 10%, with `rest` at the end; the limit is a number or a share.",
  no_clients: () => "No client matches, so there is nothing to send.",
  too_many_clients: () => "A batch has at most 10,000 clients; narrow the filter.",
  ttl_out_of_range: ({ least, most }) => `ttl_seconds must be ${least} to ${most}.`,
  scheduler_late: ({ minutes }) => `The scheduler was away: it came ${number(minutes)} minutes too late.`,
  changed_before: ({ by }) => `${named(by)} changed the schedule before the scheduler came.`,
  cancelled_before: ({ by }) => `${named(by)} cancelled the schedule before the scheduler came.`,
  schedule_cancelled: ({ by }) => `Cancelled by ${named(by)}.`,
  schedule_next: (facts) => `Next: ${local(facts)}.`,
  schedule_held: () => "Held:",
  schedule_held_back: () => "Held: its batch is paused.",
  schedule_running: () => "Its commands are on their way.",
  schedule_missed: (facts) => `Missed on ${local(facts)}:`,
  schedule_done: (facts) => `Done on ${local(facts)}.`,

  player_starting: () => "The display says that its player is starting.",
  player_running: () => "The display says that its player is running.",
  player_crashed: () => "The display says that its player has crashed.",
  player_stopped: () => "The display says that its player was stopped.",
  player_unknown: () => "The display is heard but does not say how its player is.",
  never_heard: () => "No heartbeat of the display has come yet.",
  not_known_while_silent: () => "The bridge is silent: nothing is known of the display.",
  not_heard_again: () => "Not heard since the bridge listens again.",
  heartbeats_do_not_come: () => "Its reports come, its heartbeats do not.",
  no_heartbeat_for: ({ seconds }) => `No heartbeat for ${lasting(seconds)}.`,

  client_registered: ({ how }) => REGISTERED_BY[how] ?? "Registered.",
  state_changed: ({ before, after }) => `${capital(before)} → ${after}:`,
  service_failed: ({ unit }) => `Service ${unit} failed`,
  failure_acknowledged: ({ unit, by }) => `Failure of ${unit} acknowledged by ${named(by)}`,
  screen_changed: screenChanged,
  line_logged: ({ level, message }) => `${capital(level)}: ${message}`,
  command_requested: (facts) => `${asked(facts.action)} asked for by ${named(facts.by)}${because(reasonOf(facts))}`,
  command_received: ({ action }) => `${asked(action)} received by the display`,
  command_over_before: ({ action, state }) => `${asked(action)}: the display said ${state} after it was over`,
  command_cancelled: ({ by }) => `cancelled by ${by}`,
  command_ended: ({ by, reason }) => `ended by ${by}: ${reason}`,
  command_over: ({ action, state, reason, confirmed_by: by }) =>
    `${asked(action)} ${OUTCOMES[state] ?? state}${because(reason || (by && `confirmed by ${by}`))}`,
  recovery_did_nothing: () => "Recovery does nothing:",
  recovery_asked: ({ action }) => `Recovery asks for ${one(action)}:`,
  person_did: ({ action, by }) => {
    const done = DONE_TO_IT[action] ?? action;
    if (by === "anonymous") return done;
    return `${done}, by ${named(by)}`;
  },

  failed_together: failedTogether,
  fleet_not_heard: ({ since }) =>
    `We do not hear the fleet: the bridge gives no sign since ${inUtc(since)}. The displays may well be running.`,
  other_sites_too: () => "Displays of other sites failed at the same time.",
  part_of_another: ({ id }) => `Part of incident ${id} from here on.`,
  has_part: ({ id, kind, key }) => `Incident ${id} (${`${kind} ${key}`.trim()}) turned out to be part of this one.`,
  failed_again: () => "It failed again shortly after.",
  fleet_heard_again: () => "We hear the fleet again.",
  all_well_again: () => "All displays are well again.",
  displays_failed: (facts) => `${displays(facts.displays)} failed`,
  displays_well: (facts) => `${displays(facts.displays)} well again`,
  is_on_it: ({ by }) => `${named(by)} is on it.`,
  took_over: ({ by, was }) => `${named(by)} took over from ${named(was)}.`,
  gave_back: ({ by }) => `${named(by)} gave it back.`,
  command_asked: (facts) =>
    `${asked(facts.action)} for ${displays(facts.displays)} asked for by ${named(facts.by)}${because(reasonOf(facts))}`,
  recovery_waits: (facts) => `Recovery does nothing for ${displays(facts.displays)}:`,
  recovery_acts: (facts) => `Recovery asks for ${one(facts.action)} of ${displays(facts.displays)}:`,

  // --- messages to people ---
  receiver_took: ({ receiver }) => `${receiver} took it`,
  receiver_answered: ({ receiver, status }) => `${status} from ${receiver}`,
  receiver_gone: ({ receiver, status }) =>
    `${status} from ${receiver}: the receiver says that this address is gone for good`,
  receiver_redirects: ({ receiver, status }) => `${status} from ${receiver}: it redirects, which is not followed`,
  receiver_forbidden: () => "That address may not be notified from here: it is a machine's own, or a private one.",
  receiver_misspelt: ({ receiver }) => `this is no address that ${receiver} understands`,
  receiver_unknown: ({ receiver }) => `the name ${receiver} is not known`,
  receivers_server_unknown: ({ receiver }) => `the server's name of ${receiver} is not known`,
  receiver_untrusted: ({ receiver }) => `the certificate of ${receiver} is not trusted`,
  receiver_without_tls: ({ receiver }) => `${receiver} does not speak TLS as expected`,
  receiver_without_tls_or_trust: ({ receiver }) =>
    `${receiver} does not speak TLS as expected, or its certificate is not trusted`,
  receiver_without_http: ({ receiver }) => `${receiver} does not answer as HTTP`,
  receiver_slow: ({ receiver }) => `${receiver} did not answer in time`,
  receiver_refused_connection: ({ receiver }) => `${receiver} refuses the connection`,
  receiver_lost: ({ receiver }) => `the connection to ${receiver} broke`,
  proxy_refused: ({ receiver, status }) =>
    `the proxy (OUTBOUND_PROXY) answers ${status} when it is asked for ${receiver}`,
  proxy_silent: ({ receiver }) => `the proxy (OUTBOUND_PROXY) does not answer when it is asked for ${receiver}`,
  receiver_did_not_take: ({ receiver }) => `${receiver} did not take it`,
  channel_switched_off: () => "the channel was switched off",
  over_before_sent: () => "it was over before it was sent",
  given_up: ({ tries }) => `(given up after a day and ${tries} tries)`,
};

/** What stands between two sentences. */
export const betweenWords = { space: " " };

/** These sentences one after the other; null when one of them is not known here. @param {readonly Sentence[]} sentences */
export const inWords = (sentences) => joined(sentenceWords, sentences, betweenWords.space);

translate("sentences", { sentenceWords, betweenWords });
