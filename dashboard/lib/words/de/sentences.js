import { count, number, person } from "../../format.js";
import { byCount, joined, unitOf, word } from "../../sentence_facts.js";
import { actionWords } from "../states.js";

/** After "vor", "nach", "seit" or "von". @type {Record<"second" | "minute" | "hour" | "day", [string, string]>} */
const UNITS = {
  second: ["Sekunde", "Sekunden"],
  minute: ["Minute", "Minuten"],
  hour: ["Stunde", "Stunden"],
  day: ["Tag", "Tagen"],
};

/** @param {ReturnType<typeof unitOf>} length */
const inUnit = ([n, unit]) => count(n, ...UNITS[unit]);
/** @param {number} seconds */
const lasting = (seconds) => inUnit(unitOf(seconds));

/** By whom. @param {string | null} by */
function from(by) {
  if (by === "recovery") return "von der Wiederherstellung";
  if (by?.startsWith("display:")) return "vom Display";
  if (by === "service") return "vom Server";
  return `von ${by === null ? "jemandem" : person(by)}`;
}
/** @param {string} action */
const asked = (action) => word(actionWords, action);
/** @param {number} n */
const displays = (n) => count(n, "Display", "Displays");

// --- recovery ---

/** @type {Record<string, string>} */
const SCREEN_IS = {
  black: "ist schwarz",
  frozen: "ist eingefroren",
  disconnected: "ist nicht angeschlossen",
  off: "ist aus",
};

/** @param {string | null} screen */
const screenIs = (screen) => `Der Bildschirm ${screen === null ? "ist gestört" : word(SCREEN_IS, screen)}`;

/** @type {Record<string, string>} */
const WRONG = {
  crashed: "Der Player ist abgestürzt, wie ein aktuelles Lebenszeichen meldet",
  service_failed: "Ein Dienst ist ausgefallen, und das Display ist zu hören",
  stale: "Das Display ist verstummt, obwohl wir zuhören, und der Broker meldet keine Trennung",
};

/** The evidence, without a full stop. @param {{basis: string, screen: string | null}} facts */
const wrong = ({ basis, screen }) =>
  basis === "screen_failed" ? `${screenIs(screen)}, und das Display ist zu hören` : word(WRONG, basis);

/** @type {Record<string, string>} */
const GONE = { crashed: "Der Player ist abgestürzt", service_failed: "Ein Dienst ist ausgefallen" };
const A_PERSON = "Es wird nichts mehr gesendet, bis jemand eingreift und die Wiederherstellung fortsetzt.";

/** @param {{restarts: number, reboots: number}} facts */
function tried({ restarts, reboots }) {
  const parts = [
    restarts && count(restarts, "Player-Neustart", "Player-Neustarts"),
    reboots && `${count(reboots, "Neustart", "Neustarts")} des Geräts`,
  ];
  return parts.filter(Boolean).join(" und ");
}

/** @param {{restarts: number, reboots: number}} facts @param {string} [soFar] */
function noHelp(facts, soFar = "") {
  const n = facts.restarts + facts.reboots;
  return n ? `${tried(facts)} ${n === 1 ? "hat" : "haben"} ${soFar}nicht geholfen` : "Bisher hat nichts geholfen";
}

/** @param {{restarts: number, reboots: number, reason: string | null, elsewhere: boolean}} facts */
function refused(facts) {
  const { reason, elsewhere } = facts;
  const other = elsewhere && "sein Start ist ein anderer als in seinem letzten gespeicherten Lebenszeichen";
  const why = [reason, other].filter(Boolean).join(": ") || "ohne Grund";
  return `Das Display hat ${tried(facts)} abgelehnt${reason === null ? "" : ` (${why})`}`;
}

/** Why a message was put aside, after "war". @type {Record<string, string>} */
const PUT_ASIDE = {
  too_large: "zu groß",
  not_utf8: "kein UTF-8",
  not_json: "kein JSON",
  not_an_object: "kein JSON-Objekt",
  too_deep: "zu tief verschachtelt",
  bad_number: "unbrauchbar wegen einer Zahl außerhalb des Bereichs",
  bad_field: "unbrauchbar wegen eines Feldes",
  unsupported_version: "von einer Version, die nicht unterstützt wird",
};
/** The same after "wurde". @type {Record<string, string>} */
const NOT_TAKEN = {
  unknown_topic: "an ein unbekanntes Topic gesendet",
  bad_uuid: "unter einer falschen UUID gesendet",
  unknown_client: "gesendet, als das Display nicht aufgenommen war",
  refused_by_database: "durch einen Fehler dieses Servers nicht gespeichert",
};

/** @param {number} n @param {string} reason */
function putAside(n, reason) {
  const was = PUT_ASIDE[reason];
  if (was) return `${n === 1 ? "war" : "waren"} ${was}`;
  return `${n === 1 ? "wurde" : "wurden"} ${NOT_TAKEN[reason] ?? "aus einem anderen Grund abgelehnt"}`;
}

/** What was refused. @type {Record<string, [string, string]>} */
const KINDS = {
  heartbeat: ["Lebenszeichen", "Lebenszeichen"],
  health: ["Zustandsbericht", "Zustandsberichte"],
  logs: ["Protokollzeile", "Protokollzeilen"],
  service_failed: ["Dienstausfall", "Dienstausfälle"],
  presence: ["Nachricht zur Broker-Sitzung", "Nachrichten zur Broker-Sitzung"],
  acks: ["Antwort auf einen Befehl", "Antworten auf Befehle"],
};

/** @param {{kind: string, reason: string, count: number}} facts */
function messagesRefused({ kind, reason, count: n }) {
  const [one, many] = KINDS[kind] ?? ["Nachricht", "Nachrichten"];
  return `${count(n, one, many)} ${putAside(n, reason)}`;
}

/** @param {{refused: Record<string, number>}} facts */
function heartbeatsMissing({ refused: refusals }) {
  const parts = byCount(refusals).map(([reason, n], i) => `${number(n)} ${i ? "" : "davon "}${putAside(n, reason)}`);
  const why = parts.join(", ") || "bitte nachsehen, was der Broker ihm zu senden erlaubt und ob es sie sendet";
  return `Seine Nachrichten kommen, seine Lebenszeichen nicht: ${why}.`;
}

/** @type {import("../../sentence_facts.js").SentenceWords} */
export const sentenceWords = {
  recovery_off: () => "Die Einstellung CRASH_RECOVERY_ENABLED schaltet die automatische Wiederherstellung ab.",
  bridge_silent: () =>
    "Die Bridge schweigt; was wir sehen, ist vielleicht veraltet. Bis sie wieder zuhört, wird nichts gesendet.",
  command_open: ({ action }) =>
    `Ein Befehl ist unterwegs (${asked(action)}); sein Ergebnis entscheidet, wie es weitergeht.`,
  command_of_another: ({ action, by, seconds }) =>
    `Ein Befehl ${from(by)} (${asked(action)}) hat nach ${lasting(seconds)} noch kein Ergebnis; die Wiederherstellung wartet, bis er eines hat, seine Zeit um ist oder ein Admin ihn beendet.`,
  nothing_helped: (facts) => {
    const began = facts.seconds === null ? "" : `; der erste Versuch war vor ${lasting(facts.seconds)}`;
    return `${noHelp(facts)}${began}. ${A_PERSON}`;
  },
  all_refused: (facts) => `${refused(facts)}. ${A_PERSON}`,
  two_devices: ({ seconds }) =>
    `Zwei Geräte verwenden dieses Login, zuletzt gesehen vor ${lasting(seconds)}; jedes von beiden könnte einen Befehl erhalten. Bitte einem davon einen neuen Code geben.`,
  shut_down_on_purpose: () =>
    "Das Display wurde absichtlich heruntergefahren; bis zu seinem nächsten Lebenszeichen bleibt es in Ruhe.",
  stopped_on_purpose: () => "Der Player wurde absichtlich gestoppt; er bleibt in Ruhe.",
  no_heartbeat_yet: () => "Von dem Display kam noch kein Lebenszeichen; ohne das ist nichts zu entscheiden.",
  reports_come_again: () =>
    "Seine Nachrichten kommen wieder, seit die Bridge wieder zuhört; die Wiederherstellung wartet auf seine Lebenszeichen.",
  not_heard_since: () =>
    "Das Display war noch nicht zu hören, seit die Bridge wieder zuhört; seine Stille zählt von da an.",
  failure_not_repeated: ({ unit }) =>
    `Der Dienst ${unit} ist ausgefallen, aber das Display hat es seither nicht wieder gemeldet; wenn alles in Ordnung ist, bitte den Ausfall quittieren.`,
  screen_disconnected: ({ screen }) =>
    `${screenIs(screen)}. Das behebt kein Befehl: Jemand muss nach Kabel und Strom sehen.`,
  screen_off: ({ screen }) =>
    `${screenIs(screen)}, und niemand hat das geplant. Es wird kein Befehl gesendet: Jemand muss ihn einschalten oder die Zeit planen, in der er aus ist.`,
  screen_unproven: ({ screen }) =>
    `${screenIs(screen)}; die Wiederherstellung wartet auf zwei neue Meldungen, bevor sie etwas sendet.`,
  heard_again: () => "Das Display ist wieder zu hören; ob es so bleibt, ist noch nicht bekannt.",
  heartbeats_missing: heartbeatsMissing,
  silent_and_gone: () => "Das Display ist verstummt und nicht verbunden: Es kann ihm nichts gesendet werden.",
  not_connected: ({ basis, screen }) =>
    `${GONE[basis] ?? screenIs(screen)}, aber das Display ist nicht verbunden; die Wiederherstellung versucht es nach seinem nächsten Lebenszeichen erneut.`,
  silent_too_long: () =>
    "Das Display ist seit mehr als einem Tag verstummt. Ein Neustart würde nicht helfen, darum sendet die Wiederherstellung nichts: Jemand muss nach ihm sehen.",
  command_done: ({ action }) =>
    `Der Befehl der Wiederherstellung (${asked(action)}) wurde ausgeführt; ob er geholfen hat, zeigt sich am Ende der Wartezeit.`,
  asked_again_later: (facts) => `${refused(facts)}; am Ende der Wartezeit wird es erneut gefragt.`,
  sent_lately: () =>
    "Vor Kurzem wurde ein Neustart gesendet; vor dem nächsten bekommt das Display Zeit, zurückzukommen.",
  cannot_do: (facts) =>
    `${wrong(facts)}; nach eigener Angabe kann das Display aber nicht, was jetzt zu tun wäre: ${asked(facts.action)}.`,
  watchdog_first: () => "Der Player ist eben erst abgestürzt; zuerst ist der Wächter des Displays an der Reihe.",
  other_screens_first: ({ screen }) =>
    `${wrong({ basis: "screen_failed", screen })}; die Wiederherstellung wartet ab, ob es viele andere auch trifft.`,
  others_first: () =>
    "Das Display ist eben erst verstummt; die Wiederherstellung wartet ab, ob es viele andere auch sind.",
  shop_just_opened: () =>
    "Sein Standort hat eben erst geöffnet, und es war schon vorher verstummt; die Wiederherstellung gibt ihm Zeit zum Starten.",
  first_heartbeat_awaited: () =>
    "Das Display hat sich eben erst verbunden; die Wiederherstellung wartet auf sein erstes Lebenszeichen.",
  many_late: ({ late, seen }) =>
    `${number(late)} von ${displays(seen)} sind verspätet oder verstummt: Die Wiederherstellung wartet ab, ob weitere verstummen.`,
  command_due: (facts) => `${wrong(facts)}; der nächste Takt, der Platz hat, sendet: ${asked(facts.action)}.`,
  no_help_so_far: (facts) => `${noHelp(facts, "bisher ")}.`,
  refused_before: (facts) => `${refused(facts)}.`,
  command_sent: (facts) =>
    `${wrong(facts)}: ${asked(facts.action)}, Versuch ${number(facts.attempt)} von ${number(facts.attempts)}.`,
  no_help: (facts) => `${noHelp(facts)}.`,
  part_of_incident: () => "Es ist Teil einer Störung:",

  messages_refused: messagesRefused,

  // --- messages to people ---
  receiver_took: ({ receiver }) => `Angenommen von ${receiver}`,
  receiver_answered: ({ receiver, status }) => `${status} von ${receiver}`,
  receiver_gone: ({ receiver, status }) =>
    `${status} von ${receiver}: Der Empfänger meldet, dass es diese Adresse nicht mehr gibt`,
  receiver_redirects: ({ receiver, status }) =>
    `${status} von ${receiver}: eine Weiterleitung, und Weiterleitungen wird nicht gefolgt`,
  receiver_forbidden: () =>
    "An diese Adresse darf von hier nicht gesendet werden: Sie führt auf einen Rechner selbst oder in ein privates Netz.",
  receiver_misspelt: ({ receiver }) => `Diese Adresse passt nicht zu ${receiver}`,
  receiver_unknown: ({ receiver }) => `Der Name ${receiver} ist nicht bekannt`,
  receivers_server_unknown: ({ receiver }) => `Der Name des Servers von ${receiver} ist nicht bekannt`,
  receiver_untrusted: ({ receiver }) => `Dem Zertifikat von ${receiver} wird nicht vertraut`,
  receiver_without_tls: ({ receiver }) => `${receiver} spricht kein TLS, wie es erwartet wird`,
  receiver_without_tls_or_trust: ({ receiver }) =>
    `${receiver} spricht kein TLS, wie es erwartet wird, oder dem Zertifikat wird nicht vertraut`,
  receiver_without_http: ({ receiver }) => `${receiver} antwortet nicht mit HTTP`,
  receiver_slow: ({ receiver }) => `${receiver} hat nicht rechtzeitig geantwortet`,
  receiver_refused_connection: ({ receiver }) => `${receiver} lehnt die Verbindung ab`,
  receiver_lost: ({ receiver }) => `Die Verbindung zu ${receiver} ist abgebrochen`,
  proxy_refused: ({ receiver, status }) =>
    `Der Proxy (OUTBOUND_PROXY) antwortet ${status} auf die Frage nach ${receiver}`,
  proxy_silent: ({ receiver }) => `Der Proxy (OUTBOUND_PROXY) antwortet nicht auf die Frage nach ${receiver}`,
  receiver_did_not_take: ({ receiver }) => `${receiver} hat die Nachricht nicht angenommen`,
  channel_switched_off: () => "Der Kanal war ausgeschaltet",
  over_before_sent: () => "Es war vorbei, bevor es gesendet wurde",
  given_up: ({ tries }) => `(aufgegeben nach einem Tag und ${count(tries, "Versuch", "Versuchen")})`,
};

/** These sentences one after the other; null when one of them is not known here. @param {readonly import("../../sentences.js").Sentence[]} sentences */
export const inWords = (sentences) => joined(sentenceWords, sentences, " ");
