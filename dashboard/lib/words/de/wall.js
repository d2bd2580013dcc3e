/** @type {typeof import("../wall.js").wallWords} */
export const wallWords = {
  bridge: "Die Bridge schweigt: Der Zustand der Displays ist unbekannt.",
  leave: "Zurück zur Flotte",
};
