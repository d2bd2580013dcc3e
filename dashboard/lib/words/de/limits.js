import { count } from "../../format.js";
import { duration } from "../../measures.js";

const DAY = 86_400;

/** @param {number} days */
const certificate = (days) => (days <= 0 ? "abgelaufen" : `läuft ab in ${duration(days * DAY)}`);

/** @param {number} seconds */
const clock = (seconds) =>
  Math.abs(seconds) < 1 ? "richtig" : `geht ${duration(Math.abs(seconds))} ${seconds > 0 ? "vor" : "nach"}`;

/** @param {number} percent */
const share = (percent) => `${Math.floor(percent)}\u00a0%`;

/** @type {typeof import("../limits.js").limitNames} */
export const limitNames = {
  disk: "Datenträger",
  memory: "Speicher",
  heat: "Temperatur",
  certificate: "Zertifikat",
  clock: "Uhr",
  voltage: "Spannung",
  read_only: "Schreiben",
  refused: "Vorgaben",
};

/** @type {typeof import("../limits.js").limitValues} */
export const limitValues = {
  disk: share,
  memory: share,
  heat: (degrees) => `${Math.floor(degrees)}\u00a0°C`,
  certificate,
  clock,
  voltage: (low) => (low ? "seit dem Gerätestart einmal zu niedrig" : "seit dem Gerätestart ausreichend"),
  read_only: (is) => (is ? "Datenträger nimmt nichts an" : "Datenträger ist beschreibbar"),
  refused: (count) => (count ? "nicht alle angenommen" : "alle angenommen"),
};

/** @type {typeof import("../limits.js").limitTexts} */
export const limitTexts = {
  disk: (at) => `Grenzwert ${at}\u00a0%`,
  memory: (at) => `Grenzwert ${at}\u00a0%`,
  heat: (at) => `Grenzwert ${at}\u00a0°C`,
  certificate: (at) => `Grenzwert: ${count(at, "Tag", "Tage")} vor dem Ende`,
  clock: (at) => `Grenzwert ${duration(at)}`,
  voltage: () => "",
  read_only: () => "",
  refused: () => "",
};

/** @type {typeof import("../limits.js").limitWords} */
export const limitWords = {
  passed: "über dem Grenzwert seit",
  stays: "Behoben ist es, wenn der Wert eine Viertelstunde lang besser war.",
  refused: "Vom Display abgelehnt:",
  orders: {
    commands: "Befehle",
    hours: "seine Öffnungszeiten",
    log_level: "seine Protokollstufe",
  },
  reasons: {
    unknown_zone:
      "Es kennt die Zeitzone nicht. Bitte einen älteren Namen der Zone wählen oder das Display aktualisieren.",
    unknown_level: "Es kennt die Stufe nicht.",
    unsupported_version: "Sein Client ist zu alt für diese Form.",
    not_understood: "Es versteht sie nicht.",
  },
};
