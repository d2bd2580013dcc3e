import { count } from "../../format.js";

/** @type {typeof import("../wall.js").wallWords} */
export const wallWords = {
  bridge: "Die Bridge schweigt: Der Zustand der Displays ist unbekannt.",
  mended: (n) => `${count(n, "Dienstausfall ist behoben", "Dienstausfälle sind behoben")}, aber nicht quittiert.`,
  leave: "Zurück zur Flotte",
};
