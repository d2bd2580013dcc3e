// Generated from shared/words/de/page/fleet.ftl
import { number, small } from "../../format.js";
export const tileWords = {
  late: ({ n }) => `${number(n)} verspätet`,
  hint: ({ on, word }) => on ? "Wieder alle Displays zeigen" : `Nur „${word}“ zeigen`,
};
export const selectionWords = {
  one: ({ name }) => `${name} auswählen`,
  all: "Alle gelisteten Displays auswählen",
};
export const tableWords = {
  fine: ({ n, all_n }) => `${all_n === 1 ? `${number(n)} von 1 Bildschirm ist` : `${number(n)} von ${number(all_n)} Bildschirmen sind`} in Ordnung`,
  dark: ({ n }) => `${number(n)} ${n === 1 ? "Standort" : "Standorte"} dunkel`,
  others: ({ n }) => `${number(n)} ${n === 1 ? "Display braucht" : "Displays brauchen"} Hilfe`,
  unknown: ({ n }) => `${number(n)} unbekannt`,
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
  changed: ({ n }) => `${number(n)} geändert`,
  resort: "Neu sortieren",
  nothing: "Kein Display passt.",
  csv: "Alle gelisteten Displays als Tabelle",
  failed: "Dienst ausgefallen",
  mended: "Ausfall behoben",
  screen: ({ how }) => how === "black" ? "Bild schwarz" : how === "frozen" ? "Bild eingefroren" : how === "off" ? "Bildschirm aus" : how === "disconnected" ? "kein Bildschirm" : `${how}`,
  passed: ({ limit, n }) => limit === "heat" ? `${n} °C heiß` : limit === "clock" ? "Uhr falsch" : limit === "voltage" ? "Unterspannung" : limit === "read_only" ? "Datenträger nicht beschreibbar" : limit === "refused" ? "lehnt Vorgaben ab" : limit === "certificate" ? `Zertifikat: noch ${number(n)} ${n === 1 ? "Tag" : "Tage"}` : limit === "ended" ? "Zertifikat abgelaufen" : `${limit === "disk" ? "Datenträger" : limit === "memory" ? "Speicher" : `${limit}`} ${n} % voll`,
  mute: "keine Lebenszeichen",
  unsteady: "instabile Verbindung",
  unsteadyHow: ({ losses_n }) => `in der letzten Stunde ${number(losses_n)}-mal verloren`,
  locked: "in Wartezeit",
  open: ({ word }) => `Befehl: ${small(word)}`,
  recent: "Zuletzt quittiert",
  connect: "Display verbinden",
  nothingYet: "Über die Displays ist noch nichts bekannt. Sie erscheinen hier, sobald der Server antwortet.",
};
