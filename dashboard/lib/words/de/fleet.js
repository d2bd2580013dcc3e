import { count, number, small } from "../../format.js";

/** @type {Record<string, string>} */
const SCREENS = {
  black: "Bild schwarz",
  frozen: "Bild eingefroren",
  off: "Bildschirm aus",
  disconnected: "kein Bildschirm",
};
/** @type {Record<string, string>} */
const FULL = { disk: "Datenträger", memory: "Speicher" };

/** @type {typeof import("../fleet.js").tileWords} */
export const tileWords = {
  late: (n) => `${number(n)} verspätet`,
  hint: (word, on) => (on ? "Wieder alle Displays zeigen" : `Nur „${word}“ zeigen`),
};

/** @type {typeof import("../fleet.js").selectionWords} */
export const selectionWords = {
  one: (name) => `${name} auswählen`,
  all: "Alle gelisteten Displays auswählen",
};

/** @type {typeof import("../fleet.js").tableWords} */
export const tableWords = {
  title: "Displays",
  name: "Display",
  site: "Standort",
  status: "Status",
  heartbeat: "Lebenszeichen",
  day: "24 Stunden",
  pictures: "Bilder",
  version: "Version",
  ip: "IP",
  reconnects: "Neuverb.",
  changed: (n) => `${number(n)} geändert`,
  resort: "Neu sortieren",
  nothing: "Kein Display passt.",
  csv: "Alle gelisteten Displays als Tabelle",
  failed: "Dienst ausgefallen",
  mended: "Ausfall behoben",
  screen: (how) => SCREENS[how] ?? how,
  passed: ({ limit, value }) => {
    const n = Math.floor(value);
    if (limit === "heat") return `${n}\u00a0°C heiß`;
    if (limit === "clock") return "Uhr falsch";
    if (limit === "voltage") return "Unterspannung";
    if (limit === "read_only") return "Datenträger nicht beschreibbar";
    if (limit === "refused") return "lehnt Vorgaben ab";
    if (limit === "certificate")
      return value > 0 ? `Zertifikat: noch ${count(n, "Tag", "Tage")}` : "Zertifikat abgelaufen";
    return `${FULL[limit] ?? limit} ${n}\u00a0% voll`;
  },
  mute: "keine Lebenszeichen",
  unsteady: "instabile Verbindung",
  unsteadyHow: (losses) => `in der letzten Stunde ${number(losses)}-mal verloren`,
  locked: "in Wartezeit",
  open: (word) => `Befehl: ${small(word)}`,
  recent: "Zuletzt quittiert",
  connect: "Display verbinden",
  nothingYet: "Über die Displays ist noch nichts bekannt. Sie erscheinen hier, sobald der Server antwortet.",
};
