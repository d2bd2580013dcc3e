// Generated from shared/words/de/page/states.ftl
export const statusWords = {
  running: "Läuft",
  late: "Verspätet",
  stale: "Verstummt",
  crashed: "Abgestürzt",
  starting: "Startet",
  stopped: "Gestoppt",
  unknown: "Unbekannt",
  screen_failed: "Bild gestört",
  limit_passed: "Über Grenzwert",
};
export const statusMeanings = {
  running: "Der Player zeigt seine Inhalte.",
  late: "Ein Lebenszeichen ist überfällig; ein einzelnes fehlendes ist kein Grund zur Sorge.",
  stale: "Verstummt: Mehrere Lebenszeichen in Folge fehlen.",
  crashed: "Der Player ist abgestürzt, und sein Wächter hat ihn nicht zurückgeholt.",
  starting: "Der Player lädt.",
  stopped: "Der Player wurde absichtlich gestoppt.",
  unknown: "Noch nichts gehört, die Lebenszeichen fehlen, oder das Display kann es nicht sagen.",
  screen_failed: "Schwarz, eingefroren, nicht angeschlossen oder ungeplant aus.",
  limit_passed: "Das Gerät ist über einem Grenzwert.",
};
export const screenWords = {
  ok: "in Ordnung",
  black: "schwarzes Bild",
  frozen: "eingefrorenes Bild",
  off: "aus",
  disconnected: "nicht angeschlossen",
  unknown: "nicht gemeldet",
};
export const offByWords = {
  command: "aus, durch einen Bediener",
  hours: "aus, nach seinen Öffnungszeiten",
};
export const actionWords = {
  restart_app: "Player-Neustart",
  reboot_host: "Neustart",
  shutdown_host: "Herunterfahren",
  screenshot: "Screenshot",
  screen_on: "Bildschirm an",
  screen_off: "Bildschirm aus",
};
export const stepWords = {
  queued: "Eingereiht",
  sent: "Gesendet",
  received: "Empfangen",
  running: "Läuft",
  succeeded: "Gelungen",
  failed: "Fehlgeschlagen",
  rejected: "Abgelehnt vom Display",
  expired: "Verfallen",
  timed_out: "Ohne Ergebnis",
  cancelled: "Abgebrochen",
};
