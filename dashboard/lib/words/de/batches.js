import { count, number } from "../../format.js";

/** @type {Record<string, string>} */
const NOT_SENT = {
  command_in_flight: "schon mit Befehl",
  locked_out: "in Wartezeit",
  not_capable: "dafür nicht geeignet",
  unknown_client: "nicht bekannt",
  aborted: "abgebrochen",
};

/** @param {number} n */
const displays = (n) => count(n, "Display", "Displays");

/** @type {typeof import("../batches.js").batchWords} */
export const batchWords = {
  region: "Ausgewählte Displays",
  listed: (n) => `Nichts ausgewählt: für ${n === 1 ? "das gelistete" : `alle ${number(n)} gelisteten`}`,
  selected: (n) => `${displays(n)} ausgewählt`,
  clear: "Auswahl aufheben",
  quiet: "Ruhezeit…",
  later: "Später…",
  silent: "Die Bridge schweigt: Der Zustand der Displays ist unbekannt",
  title: (action, n) => `${action}: ${displays(n)}`,
  would: {
    accepted: (n) => `${number(n)} ${n === 1 ? "wird" : "werden"} gesendet`,
    waiting: (n) => `${number(n)} in späteren Wellen`,
    command_in_flight: (n) => `${number(n)} ${n === 1 ? "hat" : "haben"} schon einen Befehl`,
    locked_out: (n, until) => `${number(n)} in Wartezeit bis ${until}`,
    not_capable: (n) => `${number(n)} ${n === 1 ? "kann" : "können"} das nicht`,
    unknown_client: (n) => `${number(n)} nicht mehr bekannt`,
  },
  reason: "Grund (optional)",
  waves: "In Wellen: ein Display, dann 10\u00a0%, dann der Rest; Schluss, sobald mehr als 10\u00a0% nicht gelingen",
  type: (n) => `Zum Fortfahren ${n} eingeben`,
  go: (action, n) => `${action}: ${displays(n)}`,
  page: "Alle Sammelbefehle",
  pageTitle: "Sammelbefehle",
  lead: "Was an viele Displays zugleich gesendet wurde, und was daraus geworden ist.",
  one: "Ein Sammelbefehl",
  none: "Es wurde noch kein Sammelbefehl gesendet. Dazu Displays in der Tabelle der Flotte auswählen.",
  failed: "Die Sammelbefehle konnten nicht geladen werden.",
  failedOne: "Dieser Sammelbefehl konnte nicht geladen werden.",
  progress: ({ good, going, bad, waiting, unsent, all }) => {
    const left = Object.entries(unsent);
    const sum = left.reduce((n, [, amount]) => n + amount, 0);
    const why = left.map(([outcome, n]) => [left.length > 1 && number(n), NOT_SENT[outcome] ?? outcome]);
    const parts = [
      `${number(good)} von ${number(all)} gelungen`,
      going && `${number(going)} unterwegs`,
      waiting && `${count(waiting, "wartet", "warten")} auf eine spätere Welle`,
      bad && `${number(bad)} nicht gelungen`,
      sum && `${number(sum)} nicht gesendet (${why.map((one) => one.filter(Boolean).join(" ")).join(", ")})`,
    ];
    return `${parts.filter(Boolean).join(", ")}.`;
  },
  wave: (n) => `Welle ${n}`,
  waveOf: (n, all) => `Welle ${n} von ${all}`,
  pause: "Anhalten",
  resume: "Fortsetzen",
  abort: "Rest abbrechen",
  state: {
    running: "Läuft",
    paused: "Angehalten",
    finished: "Fertig",
    aborted: "Abgebrochen",
    succeeded: "Gelungen",
    partial: "Teilweise gelungen",
    failed: "Fehlgeschlagen",
  },
  outcome: {
    accepted: "Angenommen",
    waiting: "Wartet auf seine Welle",
    command_in_flight: "Hatte schon einen Befehl",
    locked_out: "In Wartezeit",
    not_capable: "Kann das nicht",
    unknown_client: "Nicht bekannt",
    aborted: "Nie gesendet",
  },
};
