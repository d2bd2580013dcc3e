/** The page of quiet times, its form, and what the panel of a display says of them. */
import { capital, count, number } from "../format.js";
import { translate } from "../language.js";

export const quietTimesWords = {
  title: "Quiet times",
  lead: "Leave displays alone for a while: no automatic restarts, no messages, bulk commands wait, or the screen may be off. A person's own command always goes.",
  which: "Which quiet times",
  current: "Current",
  past: "Past",
  preset: "Kind",
  all: "All kinds",
  add: "Add a quiet time",
  none: "Nothing is quiet, and nothing is planned.",
  nonePast: "No quiet time is over yet.",
  noneOf: "No quiet time matches.",
  failed: "The quiet times could not be loaded.",
  ofDisplay: (/** @type {string} */ name) => `Only those about ${name}`,
  ofAll: "Show all",
  state: /** @type {Record<string, string>} */ ({ on: "On now", planned: "Planned", over: "Over", ended: "Ended" }),
  presets: /** @type {Record<string, string>} */ ({
    hold: "Hold",
    snooze: "Snooze",
    maintenance: "Maintenance",
    opening_hours: "Opening hours",
    leave_out: "Leave out",
    custom: "Other",
  }),
  meaning: /** @type {Record<string, string>} */ ({
    hold: "Recovery sends nothing while somebody works on it.",
    snooze: "No messages go out. What is still wrong when it ends is sent then.",
    maintenance: "Recovery sends nothing, no messages go out, and bulk commands wait.",
    opening_hours:
      "Outside of these hours the shop is closed: screens may be off, recovery waits, no messages go out. Availability counts opening hours only.",
    leave_out: "Recovery leaves it alone until somebody ends that.",
    custom: "You choose what is quiet.",
  }),
  what: /** @type {Record<string, string>} */ ({
    recovery: "no automatic restarts",
    notices: "no messages",
    screen: "the screen may be off",
    commands: "bulk commands wait",
  }),
  fleet: "The whole fleet",
  tag: (/** @type {string} */ tag) => `Tag ${tag}`,
  displays: (/** @type {number} */ n) => count(n, "display", "displays"),
  until: "until",
  untilEnded: "until somebody ends it",
  from: "from",
  endedBy: (/** @type {string} */ who) => `ended by ${who}`,
  open: (/** @type {string} */ week) => `Open ${week}`,
  weekly: (/** @type {string} */ week) => `Each week ${week}`,
  edit: "Change…",
  end: "End",
  endOf: (/** @type {string} */ preset, /** @type {string} */ whom) => `End ${preset.toLowerCase()} of ${whom}`,
  editOf: (/** @type {string} */ preset, /** @type {string} */ whom) => `Change ${preset.toLowerCase()} of ${whom}`,
};

export const quietEndWords = {
  title: "End this quiet time?",
  text: (/** @type {number} */ n) =>
    n === 1 ? "It ends at once, for one display." : `It ends at once, for all ${number(n)} displays that it is about.`,
  none: "It ends at once. No display is covered by it now.",
  go: "End it",
};

export const quietFormWords = {
  addTitle: "Add a quiet time",
  editTitle: (/** @type {string} */ preset) => `Change: ${preset}`,
  kind: "What",
  whom: "About",
  scope: /** @type {Record<string, string>} */ ({
    fleet: "The whole fleet",
    site: "A site",
    tag: "A tag",
    clients: "Some displays",
  }),
  site: "Site",
  tag: "Tag",
  find: "Find displays",
  chosen: (/** @type {number} */ n) => `${count(n, "display", "displays")} chosen`,
  moreFound: (/** @type {number} */ n) => `${number(n)} more: type more of the name`,
  quiet: "What is quiet",
  how: "For how long",
  hours: (/** @type {number} */ n) => (n === 168 ? "A week" : n > 24 ? `${n / 24} days` : count(n, "hour", "hours")),
  openEnd: "Until somebody ends it",
  at: "Until a time…",
  from: "From (empty: now)",
  until: "Until",
  untilOptional: "Until (empty: open end)",
  untilHere: (/** @type {string} */ zone) => `Until (your time, ${zone})`,
  yourTime: (/** @type {string} */ zone) => `In your time: ${zone}.`,
  weekly: "Only at some hours of the week",
  openingHours: "Open at",
  weeklyHours: "Quiet at",
  zone: "Time zone of these hours",
  zoneOwn: (/** @type {string} */ zone) => `${zone} (your own)`,
  closedAllDay: "closed",
  notThatDay: "not on this day",
  begins: (/** @type {string} */ day, /** @type {number} */ n) => `${day}, times ${n}, from`,
  ends: (/** @type {string} */ day, /** @type {number} */ n) => `${day}, times ${n}, to`,
  addTimes: "Add",
  addTimesTo: (/** @type {string} */ day) => `Add times on ${day}`,
  removeTimes: (/** @type {string} */ day, /** @type {number} */ n) => `Remove times ${n} of ${day}`,
  nights: (/** @type {number} */ n) => `${n} nights later`,
  copy: "Monday's times to Tuesday–Friday",
  reason: "Reason",
  reasonOptional: "Reason (optional)",
  go: "Make it quiet",
  save: "Save",
  editThat: "Change those",
};

export const quietPreviewWords = {
  space: " ", // between two sentences
  whole: (/** @type {number} */ n) => `the whole fleet (${count(n, "display", "displays")})`,
  place: (/** @type {string} */ name, /** @type {number} */ n) => `${name} (${count(n, "display", "displays")})`,
  tag: (/** @type {string} */ tag, /** @type {number} */ n) => `the tag ${tag} (${count(n, "display", "displays")})`,
  nobody: "Choose whom it is about.",
  nothing: "Choose what is quiet.",
  noHours: "Give at least one day its hours.",
  noEnd: "Say until when.",
  sentence: (/** @type {string} */ what, /** @type {string} */ whom, /** @type {string} */ when) =>
    `${capital(what)} for ${whom}, ${when}.`,
  now: "from now",
  from: (/** @type {string} */ time) => `from ${time}`,
  until: (/** @type {string} */ time, /** @type {string} */ zone) => `until ${time} (${zone})`,
  untilEnded: "until somebody ends it",
  outside: (/** @type {string} */ week, /** @type {string} */ zone) => `outside of ${week} (${zone})`,
  within: (/** @type {string} */ week, /** @type {string} */ zone) => `each week ${week} (${zone})`,
  openNow: (/** @type {string | null} */ at) => (at ? `Open now, closes ${at}.` : "Always open."),
  closedNow: (/** @type {string | null} */ at) => (at ? `Closed now, opens ${at}.` : "Always closed."),
  onNow: (/** @type {string | null} */ at) => (at ? `On now, until ${at}.` : "Always on."),
  onNext: (/** @type {string | null} */ at) => (at ? `Next: ${at}.` : ""),
};

export const clientQuietWords = {
  title: "Quiet times",
  nothing: "Nothing is quiet for this display now.",
  failed: "What is quiet for this display could not be loaded.",
  hold: "Hold…",
  snooze: "Snooze…",
  leaveOut: "Leave out…",
  maintenance: "Maintenance…",
  all: "All quiet times of this display",
};

export const quietRefusalWords = {
  /** The API's nouns in the service's sentences. */
  nouns: /** @type {Record<string, string>} */ ({
    ends_at: "the end",
    starts_at: "the start",
    time_zone: "the time zone",
    opening_hours: "opening hours",
    leave_out: "“Leave out”",
  }),
};

translate("quiet_times", {
  quietTimesWords,
  quietEndWords,
  quietFormWords,
  quietPreviewWords,
  clientQuietWords,
  quietRefusalWords,
});
