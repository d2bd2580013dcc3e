// Generated from shared/words/de/page/limits.ftl
import { number } from "../../format.js";
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
export const limitValues = {
  share: ({ percent }) => `${percent} %`,
  heat: ({ degrees }) => `${degrees} °C`,
  certificate: ({ over, time }) => over ? "abgelaufen" : `läuft ab in ${time}`,
  clock: ({ how, time }) => how === "right" ? "richtig" : how === "fast" ? `geht ${time} vor` : `geht ${time} nach`,
  voltage: ({ low }) => low ? "seit dem Gerätestart einmal zu niedrig" : "seit dem Gerätestart ausreichend",
  read_only: ({ is }) => is ? "Datenträger nimmt nichts an" : "Datenträger ist beschreibbar",
  refused: ({ some }) => some ? "nicht alle angenommen" : "alle angenommen",
};
export const limitTexts = {
  share: ({ percent }) => `Grenzwert ${percent} %`,
  heat: ({ degrees }) => `Grenzwert ${degrees} °C`,
  certificate: ({ n }) => `Grenzwert: ${number(n)} ${n === 1 ? "Tag" : "Tage"} vor dem Ende`,
  clock: ({ time }) => `Grenzwert ${time}`,
};
export const limitWords = {
  passed: "über dem Grenzwert seit",
  stays: "Behoben ist es, wenn der Wert eine Viertelstunde lang besser war.",
  refused: "Vom Display abgelehnt:",
  orders: {
    commands: "Befehle",
    hours: "seine Öffnungszeiten",
    log_level: "seine Protokollstufe",
    look: "wie sein Bildschirm aussehen darf",
  },
  reasons: {
    unknown_zone: "Es kennt die Zeitzone nicht. Bitte einen älteren Namen der Zone wählen oder das Display aktualisieren.",
    unknown_level: "Es kennt die Stufe nicht.",
    unsupported_version: "Sein Client ist zu alt für diese Form.",
    not_understood: "Es versteht sie nicht.",
  },
};
