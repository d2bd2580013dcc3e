import { capital, count, number } from "../../format.js";

/** @param {number} n */
const displays = (n) => count(n, "Display", "Displays");

/** @type {typeof import("../quiet_times.js").quietTimesWords} */
export const quietTimesWords = {
  title: "Ruhezeiten",
  lead: "Displays eine Weile in Ruhe lassen: keine automatischen Neustarts, keine Meldungen, Sammelbefehle warten, oder der Bildschirm darf aus sein. Ein Befehl, den jemand selbst sendet, geht immer hinaus.",
  which: "Welche Ruhezeiten",
  current: "Aktuelle",
  past: "Vergangene",
  preset: "Art",
  all: "Alle Arten",
  add: "Ruhezeit hinzufügen",
  none: "Nichts ist in Ruhe, und nichts ist geplant.",
  nonePast: "Noch ist keine Ruhezeit vorbei.",
  noneOf: "Keine Ruhezeit passt.",
  failed: "Die Ruhezeiten konnten nicht geladen werden.",
  ofDisplay: (name) => `Nur die für ${name}`,
  ofAll: "Alle zeigen",
  state: { on: "Jetzt", planned: "Geplant", over: "Vorbei", ended: "Beendet" },
  presets: {
    hold: "In Arbeit",
    snooze: "Meldepause",
    maintenance: "Wartung",
    opening_hours: "Öffnungszeiten",
    leave_out: "Ausnehmen",
    custom: "Eigene",
  },
  meaning: {
    hold: "Die Wiederherstellung sendet nichts, solange jemand am Display arbeitet.",
    snooze: "Es gehen keine Meldungen hinaus. Was am Ende noch nicht stimmt, wird dann gesendet.",
    maintenance: "Die Wiederherstellung sendet nichts, es gehen keine Meldungen hinaus, und Sammelbefehle warten.",
    opening_hours:
      "Außerhalb dieser Zeiten ist geschlossen: Bildschirme dürfen aus sein, die Wiederherstellung wartet, es gehen keine Meldungen hinaus. Für die Verfügbarkeit zählen nur die Öffnungszeiten.",
    leave_out: "Die Wiederherstellung lässt das Display in Ruhe, bis jemand das beendet.",
    custom: "Sie wählen, was in Ruhe ist.",
  },
  what: {
    recovery: "keine automatischen Neustarts",
    notices: "keine Meldungen",
    screen: "der Bildschirm darf aus sein",
    commands: "Sammelbefehle warten",
  },
  fleet: "Die ganze Flotte",
  tag: (tag) => `Schlagwort ${tag}`,
  displays,
  until: "bis",
  untilEnded: "bis jemand sie beendet",
  from: "ab",
  endedBy: (who) => `beendet von ${who}`,
  open: (week) => `Geöffnet ${week}`,
  weekly: (week) => `Jede Woche ${week}`,
  edit: "Ändern…",
  end: "Beenden",
  endOf: (preset, whom) => `${preset} beenden: ${whom}`,
  editOf: (preset, whom) => `${preset} ändern: ${whom}`,
};

/** @type {typeof import("../quiet_times.js").quietEndWords} */
export const quietEndWords = {
  title: "Diese Ruhezeit beenden?",
  text: (n) =>
    n === 1
      ? "Sie endet sofort, für ein Display."
      : `Sie endet sofort, für alle ${number(n)} Displays, die sie betrifft.`,
  none: "Sie endet sofort. Zurzeit betrifft sie kein Display.",
  go: "Beenden",
};

/** @type {typeof import("../quiet_times.js").quietFormWords} */
export const quietFormWords = {
  addTitle: "Ruhezeit hinzufügen",
  editTitle: (preset) => `Ändern: ${preset}`,
  kind: "Was",
  whom: "Für",
  scope: {
    fleet: "Die ganze Flotte",
    site: "Einen Standort",
    tag: "Ein Schlagwort",
    clients: "Einzelne Displays",
  },
  site: "Standort",
  tag: "Schlagwort",
  find: "Displays suchen",
  chosen: (n) => `${displays(n)} gewählt`,
  moreFound: (n) => `${number(n)} weitere: mehr vom Namen eingeben`,
  quiet: "Was in Ruhe ist",
  how: "Wie lange",
  hours: (n) => (n === 168 ? "Eine Woche" : n > 24 ? `${n / 24} Tage` : count(n, "Stunde", "Stunden")),
  openEnd: "Bis jemand sie beendet",
  at: "Bis zu einer Zeit…",
  from: "Ab (leer: jetzt)",
  until: "Bis",
  untilOptional: "Bis (leer: ohne Ende)",
  untilHere: (zone) => `Bis (Ihre Zeit, ${zone})`,
  yourTime: (zone) => `In Ihrer Zeit: ${zone}.`,
  weekly: "Nur zu bestimmten Zeiten der Woche",
  openingHours: "Geöffnet",
  weeklyHours: "In Ruhe",
  zone: "Zeitzone dieser Zeiten",
  zoneOwn: (zone) => `${zone} (Ihre eigene)`,
  closedAllDay: "geschlossen",
  notThatDay: "nicht an diesem Tag",
  begins: (day, n) => `${day}, Zeit ${n}, von`,
  ends: (day, n) => `${day}, Zeit ${n}, bis`,
  addTimes: "Hinzufügen",
  addTimesTo: (day) => `Zeit am ${day} hinzufügen`,
  removeTimes: (day, n) => `Zeit ${n} am ${day} entfernen`,
  nights: (n) => `${count(n, "Nacht", "Nächte")} später`,
  copy: "Zeiten vom Montag auf Dienstag–Freitag übertragen",
  reason: "Grund",
  reasonOptional: "Grund (optional)",
  go: "Ruhezeit anlegen",
  save: "Speichern",
  editThat: "Diese ändern",
};

/** @type {typeof import("../quiet_times.js").quietPreviewWords} */
export const quietPreviewWords = {
  space: " ", // between two sentences
  whole: (n) => `die ganze Flotte (${displays(n)})`,
  place: (name, n) => `${name} (${displays(n)})`,
  tag: (tag, n) => `das Schlagwort ${tag} (${displays(n)})`,
  nobody: "Bitte wählen, wen es betrifft.",
  nothing: "Bitte wählen, was in Ruhe ist.",
  noHours: "Bitte mindestens einem Tag seine Zeiten geben.",
  noEnd: "Bitte angeben, bis wann.",
  sentence: (what, whom, when) => `${capital(what)} für ${whom}, ${when}.`,
  now: "ab jetzt",
  from: (time) => `ab ${time}`,
  until: (time, zone) => `bis ${time} (${zone})`,
  untilEnded: "bis jemand sie beendet",
  outside: (week, zone) => `außerhalb von ${week} (${zone})`,
  within: (week, zone) => `jede Woche ${week} (${zone})`,
  openNow: (at) => (at ? `Jetzt geöffnet, schließt ${at}.` : "Immer geöffnet."),
  closedNow: (at) => (at ? `Jetzt geschlossen, öffnet ${at}.` : "Immer geschlossen."),
  onNow: (at) => (at ? `Jetzt in Ruhe, bis ${at}.` : "Immer in Ruhe."),
  onNext: (at) => (at ? `Als Nächstes: ${at}.` : ""),
};

/** @type {typeof import("../quiet_times.js").clientQuietWords} */
export const clientQuietWords = {
  title: "Ruhezeiten",
  nothing: "Für dieses Display ist jetzt nichts in Ruhe.",
  failed: "Was für dieses Display in Ruhe ist, konnte nicht geladen werden.",
  hold: "In Arbeit…",
  snooze: "Meldepause…",
  leaveOut: "Ausnehmen…",
  maintenance: "Wartung…",
  all: "Alle Ruhezeiten dieses Displays",
};

/** @type {typeof import("../quiet_times.js").quietRefusalWords} */
export const quietRefusalWords = {
  nouns: {
    ends_at: "das Ende",
    starts_at: "der Beginn",
    time_zone: "die Zeitzone",
    opening_hours: "Öffnungszeiten",
    leave_out: "„Ausnehmen“",
  },
};
