/** @type {typeof import("../shortcuts.js").shortcutWords} */
export const shortcutWords = {
  title: "Tastenkürzel",
  on: "Tastenkürzel mit einzelnen Tasten verwenden",
  list: [
    ["/", "Displays suchen"],
    ["j  k", "Nächstes, voriges Display"],
    ["Enter", "Display öffnen"],
    ["x", "Display auswählen oder abwählen"],
    ["Esc", "Seitenleiste oder Dialog schließen"],
    ["g f", "Zur Flotte"],
    ["g l", "Zu den Protokollen"],
    ["g c", "Zu den Präsentationen"],
    ["g i", "Zu den Störungen"],
    ["g q", "Zu den Ruhezeiten"],
    ["g a", "Zur Verfügbarkeit"],
    ["g s", "Zu den Einstellungen"],
    ["?", "Diese Liste"],
  ],
  note: "Keine Taste sendet einen Befehl.",
};
