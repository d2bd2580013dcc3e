/**
 * Every sentence people read on the first page; those of views that are fetched later stand in strings_later.js.
 * Functions where a number or a name goes in.
 */

export const plurals = new Intl.PluralRules("en");
export const numbers = new Intl.NumberFormat("en");

/** @param {number} n @param {string} one @param {string} other */
export const count = (n, one, other) => `${numbers.format(n)} ${plurals.select(n) === "one" ? one : other}`;

export const S = {
  product: "Signage Fleet",
  nav: {
    fleet: "Fleet",
    incidents: "Incidents",
    batches: "Bulk commands",
    logs: "Logs",
    conversions: "Conversions",
    settings: "Settings",
  },
  skip: "Skip to content",
  zone: (/** @type {string} */ zone) => `Times in ${zone}`,
  loading: "Loading…",
  retry: "Try again",
  byItself: "It is tried again by itself.",
  reference: (/** @type {string} */ id) => `Reference ${id}.`,
  csv: "Save as CSV",
  close: "Close",
  cancel: "Cancel",
  copy: "Copy",
  copied: "Copied",
  none: "none",
  notLoaded: "This part of the page could not be loaded.",
  reload: "Look again",
  never: "never",
  notReported: "not reported",
  signOut: "Sign out",
  signOutFailed: "The service did not hear the sign-out: you are still signed in. Try again in a moment.",
  help: "Keyboard shortcuts",

  live: {
    updating: "Live",
    paused: "Not updating",
    connecting: "Connecting…",
    asOf: (/** @type {string} */ time) => `as of ${time}`,
    banner: (/** @type {string} */ time) =>
      `The service does not answer. You see what was known at ${time}; it is tried again by itself.`,
    bannerNothing: "The service does not answer. It is tried again by itself.",
    nothingYet:
      "Nothing is known of the displays yet. They appear here as soon as the service answers; you do not have to do anything.",
    reason: "Not updating: what you see may be out of date",
  },

  session: {
    again: "Sign in again",
    endedElsewhere: "You signed out in another tab.",
    againWhy: "Your sign-in has ended. The page stays as it is, and what you were doing goes on.",
    byProxy: "Your sign-in has ended. Load the page again to sign in; it opens where you are.",
    reload: "Load again",
    user: "User name",
    password: "Password",
    go: "Sign in",
    going: "Signing in…",
    wrong: "That did not work. Check the user name and the password.",
    code: "Code",
    codeHow: "The six digits that your app shows now, or a recovery code.",
    codeWrong: "That code did not work. Wait for the next one and try again.",
    wait: (/** @type {string} */ left) => `Too many failed tries. Try again in ${left}.`,
    unreachable: "The service does not answer. Try again in a moment.",
  },

  status: /** @type {Record<string, string>} */ ({
    running: "Running",
    late: "Late",
    stale: "Stale",
    crashed: "Crashed",
    starting: "Starting",
    stopped: "Stopped",
    unknown: "Unknown",
  }),
  statusMeaning: /** @type {Record<string, string>} */ ({
    running: "The player shows its playlist.",
    late: "A heartbeat is overdue; one missed beat is not news.",
    stale: "Silent: several heartbeats in a row are missing.",
    crashed: "The player died and its watchdog has not brought it back.",
    starting: "The player is loading.",
    stopped: "The player was stopped on purpose.",
    unknown: "Not heard yet, its heartbeats do not come, or the display cannot tell.",
  }),
  late: (/** @type {number} */ n) => `${numbers.format(n)} late`,
  tileHint: (/** @type {string} */ word, /** @type {boolean} */ on) =>
    on ? `Show all displays again` : `Show only ${word.toLowerCase()}`,

  screen: /** @type {Record<string, string>} */ ({
    ok: "ok",
    black: "black picture",
    frozen: "frozen picture",
    off: "panel off",
    disconnected: "no panel connected",
    unknown: "not reported",
  }),

  failed: {
    region: "Service failed",
    title: (/** @type {number} */ n) => `Service failed on ${count(n, "display", "displays")}`,
    unit: "Unit",
    acknowledge: "Acknowledge",
    acknowledgeOf: (/** @type {string} */ name) => `Acknowledge the failure of ${name}`,
    sending: "Acknowledging…",
    done: "Acknowledged",
    by: (/** @type {string} */ who) => `Acknowledged by ${who}`,
    elsewhere: "Acknowledged elsewhere",
    again: (/** @type {string} */ time) => `Failed again at ${time}: look at it before you acknowledge`,
    error: "The acknowledgement did not get through.",
    refused: (/** @type {string} */ detail) => `Not acknowledged: ${detail}`,
    showAll: (/** @type {number} */ n) => `Show all ${numbers.format(n)}`,
    showLess: "Show fewer",
    paused: (/** @type {string} */ time) => `as of ${time}, not updating`,
    viewer: "Acknowledging needs the role operator",
  },

  acknowledged: {
    title: "Recently acknowledged",
    none: "Nothing was acknowledged in the last 24 hours.",
    failed: "The acknowledged failures could not be loaded.",
  },

  attention: {
    title: "Needs attention",
    count: (/** @type {number} */ n) => count(n, "display", "displays"),
    wrong: "What is wrong",
    did: "What recovery did",
    why: "Why it is not acting now",
    showAll: (/** @type {number} */ n) => `Show ${numbers.format(n)} more`,
    inTable: (/** @type {number} */ n) => `${numbers.format(n)} more: use the tiles and the table below`,
    crashed: "The player has crashed,",
    stale: "Silent: last heartbeat",
    staleNever: "Silent",
    mute: "Talks, but without heartbeats: the last one",
    failed: (/** @type {string} */ unit) => `Service ${unit} failed`,
    screen: (/** @type {string} */ what) => `Screen: ${what}`,
    nothingYet: "Nothing so far",
    sentLately: "A restart or reboot was sent lately",
    steps: (/** @type {number} */ n) => count(n, "attempt so far", "attempts so far"),
    until: (/** @type {string} */ time, /** @type {string} */ left) => `Until ${time} (${left} left).`,
    incident: (/** @type {number} */ id) => `Part of incident ${id}`,
    notUnwell: "Recovery does not act on this",
    heldBack: "Held back with the others, see above: no reboot until fewer are silent or an operator releases it.",
  },

  pick: {
    region: "Chosen displays",
    chosen: (/** @type {number} */ n) => `${count(n, "display", "displays")} chosen`,
    none: "Choose none",
    one: (/** @type {string} */ name) => `Choose ${name}`,
    all: "Choose all that are listed",
    silent: "The bridge is silent: nothing is known of what the displays need",
  },

  table: {
    title: "Displays",
    caption: (/** @type {number} */ shown, /** @type {number} */ all) =>
      shown === all
        ? count(all, "display", "displays")
        : `${numbers.format(shown)} of ${count(all, "display", "displays")}`,
    search: "Search name, site, address…",
    searchLabel: "Search displays",
    clear: "Clear filters",
    name: "Display",
    site: "Site",
    status: "Status",
    heartbeat: "Heartbeat",
    version: "Version",
    ip: "IP",
    reconnects: "Reconnects",
    changed: (/** @type {number} */ n) => `${numbers.format(n)} changed`,
    resort: "Re-sort",
    nothing: "No display matches.",
    csv: "Every display that is listed, as a table",
    failed: "service failed",
    mute: "no heartbeats",
    unsteady: "unsteady connection",
    unsteadyHow: (/** @type {number} */ losses) => `${numbers.format(losses)} losses in the last hour`,
    locked: "locked",
    open: (/** @type {string} */ word) => `command ${word}`,
  },

  banner: {
    bridge: (/** @type {string} */ time) => `Bridge silent since ${time}; display states are unknown.`,
    bridgeNever: "The bridge has not been heard; display states are unknown.",
    bridgeWhy: "Nothing that displays send is being stored. Recovery does not act on what it cannot see.",
    scheduler: (/** @type {string} */ time) => `The scheduler is late: last tick ${time}.`,
    schedulerNever: "The scheduler has not ticked yet.",
    schedulerWhy: "Overdue commands are not expired and nothing is recovered until it ticks.",
    breaker: "Recovery holds back: too many displays fell silent at once.",
    release: "Release it",
  },

  empty: {
    title: "No displays yet",
    admin:
      "A display connects with a code that can be used once. Name it, create its code, and give the code to the display.",
    other: "An admin can create a code with which the first display connects.",
    connect: "Connect a display",
  },

  command: {
    action: /** @type {Record<string, string>} */ ({
      restart_app: "Restart player",
      reboot_host: "Reboot",
      shutdown_host: "Shut down",
    }),
    steps: /** @type {Record<string, string>} */ ({
      queued: "Queued",
      sent: "Sent",
      received: "Received",
      running: "Running",
      succeeded: "Succeeded",
      failed: "Failed",
      rejected: "Refused by the display",
      expired: "Expired",
      timed_out: "Timed out",
      cancelled: "Cancelled",
    }),
  },

  keys: {
    title: "Keyboard shortcuts",
    on: "Use single-key shortcuts",
    list: [
      ["/", "Search displays"],
      ["j  k", "Next, previous display"],
      ["Enter", "Open the display"],
      ["x", "Choose the display, or no longer"],
      ["Esc", "Close the panel or dialog"],
      ["g f", "Go to the fleet"],
      ["g l", "Go to the logs"],
      ["g c", "Go to the conversions"],
      ["g i", "Go to the incidents"],
      ["g s", "Go to the settings"],
      ["?", "This list"],
    ],
    note: "No key sends a command.",
  },
  number: (/** @type {number} */ n) => numbers.format(n),
  refused: /** @type {Record<string, string>} */ ({
    command_in_flight: "This display already has an open command.",
    not_capable: "This display says that it cannot do this.",
    forbidden: "Your role does not allow this. It may have changed since this page was opened; an admin can tell.",
    internal_error: "Something went wrong in the service. Try again; if it comes again, tell whoever runs the service.",
    api_timeout: "The service did not answer in time. See whether it was done before you try again.",
  }),
};
