import { count, number } from "../../format.js";

/** @type {typeof import("../display.js").displayWords} */
export const displayWords = {
  region: (name) => `Display ${name}`,
  gone: "Es gibt kein Display mit dieser UUID, oder es wurde gelöscht.",
  copyUuid: "UUID kopieren",
  since: "seit",
  uuid: "UUID",
  site: "Standort",
  tags: "Schlagwörter",
  host: "Hostname",
  ip: "IP-Adresse",
  version: "Player-Version",
  heartbeat: "Letztes Lebenszeichen",
  screen: "Bildschirm",
  hours: "Öffnungszeiten",
  keepsHours: "beachtet das Display selbst",
  hoursUntold: "noch nicht auf dem Display",
  presence: "Broker-Sitzung",
  connection: "MQTT-Verbindung",
  reconnects: "Neuverbindungen",
  unsteady: (losses) => `Instabile Verbindung: in der letzten Stunde ${number(losses)}-mal verloren`,
  never: "Es hat sich noch nie verbunden.",
  noHeartbeat: "Es hat sich verbunden, aber noch kein Lebenszeichen gesendet.",
  codeEnded: (time) => `Sein Code ist abgelaufen: ${time}.`,
  codeUntil: (time) => `Sein Code gilt bis ${time}.`,
  codeNone: "Es hat keinen Code, der noch gilt.",
  newCode: "Neuer Code",
  newCodeHow: "Er ersetzt den vorigen und wird nicht noch einmal gezeigt.",
  remove: "Entfernen",
  removeSure: "Endgültig entfernen",
  askAdmin: "Ein Admin kann einen neuen Code erstellen oder das Display entfernen.",
  lastDisconnect: "Letzte Trennung, nach eigener Uhr",
  oddLogin: "Zwei Geräte mit einem Login",
  sharedLogin: (time) =>
    `Zuletzt gesehen: ${time}. Jedes wirft das andere hinaus, und jedes kann einen Befehl erhalten.`,
  sharedAsk:
    "Ein neuer Code beendet das: Das Gerät, das ihn verwendet, behält das Display, das andere verliert sein Login.",
  sharedHow: (time) =>
    `Diesen Code vor ${time} dem Gerät geben, das bleiben soll. Das andere verliert dann sein Login.`,
  sharedAskAdmin: "Ein Admin kann einen neuen Code erstellen.",
  counterWentBack: (time) =>
    `Sein Zähler sprang zurück (${time}), vermutlich durch ein zurückgespieltes Image oder einen Schreibfilter; manche Protokollzeilen können doppelt erscheinen.`,
  recovery: "Wiederherstellung",
  tabs: {
    about: "Überblick",
    logs: "Protokoll",
    commands: "Befehle",
    health: "Zustand",
    events: "Verlauf",
    refused: "Abgelehnt",
  },
};

/** @type {typeof import("../display.js").refusedWords} */
export const refusedWords = {
  title: "Abgelehnte Nachrichten",
  last: "zuletzt",
  show: "Zeigen",
  none: "Keine Nachricht dieses Displays wurde abgelehnt.",
  failed: "Die abgelehnten Nachrichten konnten nicht geladen werden.",
  times: (n) => count(n, "Mal", "Male"),
};
