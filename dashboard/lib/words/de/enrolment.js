/** @type {typeof import("../enrolment.js").enrolmentWords} */
export const enrolmentWords = {
  lead: "Ein Display verbindet sich mit einem Code, der einmal gilt. Display benennen, Code erstellen, Code dem Display geben.",
  emptyTitle: "Noch keine Displays",
  emptyOther: "Ein Admin kann einen Code erstellen, mit dem sich das erste Display verbindet.",
  name: "Name des Displays",
  site: "Standort (optional)",
  create: "Verbindungscode erstellen",
  creating: "Wird erstellt…",
  code: "Verbindungscode",
  uuid: "Seine UUID",
  until: (time, left) => `Gilt einmal, bis ${time} (noch ${left})`,
  over: "Dieser Code ist abgelaufen. Bitte einen neuen erstellen.",
  install:
    "Auf einem Display mit Debian oder Raspberry Pi OS diese Zeile einfügen. Sie installiert den Agenten und verbindet ihn:",
  ownCa:
    "Das Zertifikat dieses Servers stammt von einer eigenen CA; die Zeile prüft sie an ihrem Hash. Ein Display, das nur ein Browser ist, muss ihr zuerst vertrauen:",
  how: "Auf einem anderen Display den Code gegen sein Login tauschen",
  then: "Die Antwort enthält Adresse, Benutzername und Passwort des Brokers. Das Display erscheint hier mit seiner ersten Nachricht.",
  connected: (age) => `Es hat sich verbunden. Gehört ${age}`,
  qr: "Verbindungscode als QR-Code",
  qrHow: "Oder das Display dies scannen lassen: Es enthält Adresse und Code als JSON.",
  copyLine: "Befehl kopieren",
};
