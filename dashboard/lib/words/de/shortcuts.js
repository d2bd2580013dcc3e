// Generated from shared/words/de/page/shortcuts.ftl
export const shortcutWords = {
  title: "Tastenkürzel",
  on: "Tastenkürzel mit einzelnen Tasten verwenden",
  keys: {
    search: "Displays suchen",
    step: "Nächstes, voriges Display",
    open: "Display öffnen",
    select: "Display auswählen oder abwählen",
    close: "Seitenleiste oder Dialog schließen",
    fleet: "Zur Flotte",
    logs: "Zu den Protokollen",
    presentations: "Zu den Präsentationen",
    incidents: "Zu den Störungen",
    quiet: "Zu den Ruhezeiten",
    availability: "Zur Verfügbarkeit",
    settings: "Zu den Einstellungen",
    help: "Diese Liste",
  },
  note: "Keine Taste sendet einen Befehl.",
};
