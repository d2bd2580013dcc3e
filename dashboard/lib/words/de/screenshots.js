import { count, number } from "../../format.js";

/** @type {typeof import("../screenshots.js").screenshotWords} */
export const screenshotWords = {
  title: "Bildschirm",
  wall: "Bilder der Bildschirme",
  take: "Screenshot aufnehmen",
  taking: "Das Bild des Displays wird erwartet…",
  none: "Noch kein Bild.",
  taken: "Aufgenommen",
  before: "vor dem Ausfall",
  beforeFailure: "Die letzten Bilder vor dem Ausfall",
  beforeFailures: "Bildschirme vor ihrem Ausfall",
  earlier: "Frühere Bilder",
  alt: (name, time) => `Bildschirm von ${name}, ${time}`,
  show: (time) => `Bild von ${time} zeigen`,
  notCapable: "Dieses Display sendet keine Bilder seines Bildschirms.",
  off: (site) => `Die Bildschirme von ${site} darf niemand sehen. Ein Admin kann das ändern.`,
  noSite: "Displays ohne Standort",
  hide: (site) => `Bildschirme von ${site} niemandem zeigen`,
  hideSure: "Ihre Bilder löschen und keine mehr aufnehmen",
  allow: (site) => `Bildschirme von ${site} den Bedienern zeigen`,
  cause: {
    screenshots_off: "Die Bildschirme dieses Standorts darf niemand sehen.",
    screenshot_not_wanted: "Das Bild kam zu spät.",
  },
  failed: "Die Bilder konnten nicht geladen werden.",
  newPictures: "Neue Bilder",
  progress: (came, all, rest) => {
    const first = `${number(came)} von ${count(all, "Bild", "Bildern")} ${came === 1 ? "ist" : "sind"} da`;
    return `${[first, ...rest].join(", ")}.`;
  },
  part: {
    unable: (n) => `${count(n, "Display kann", "Displays können")} keines senden`,
    hidden: (n) => `${count(n, "Bildschirm darf", "Bildschirme dürfen")} nicht gesehen werden`,
    away: (n) => `${count(n, "Display ist", "Displays sind")} nicht verbunden`,
    silent: (n) => `${count(n, "Display hat", "Displays haben")} nicht geantwortet`,
    failed: (n) => `${count(n, "Aufnahme ist", "Aufnahmen sind")} misslungen`,
    waiting: (n) => `${count(n, "kommt", "kommen")} noch`,
  },
  step: {
    unable: "Kann keines senden",
    hidden: "Darf nicht gesehen werden",
    away: "Nicht verbunden",
    silent: "Keine Antwort",
    failed: "Misslungen",
    waiting: "Ein neues ist unterwegs…",
  },
};
