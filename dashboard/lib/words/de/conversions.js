import { count, number } from "../../format.js";

/** @param {(string | false | undefined)[]} parts */
const lost = (parts) => `Im PDF verloren: ${parts.filter(Boolean).join(", ")}.`;

/** @param {number} n */
const slides = (n) => count(n, "Folie", "Folien");

/** @param {Record<string, any>} of */
const on = (of) => `${of["slides"].length === 1 ? "Folie" : "Folien"} ${of["slides"].join(", ")}`;

/** @type {typeof import("../conversions.js").conversionWords} */
export const conversionWords = {
  title: "Präsentationen",
  lead: "Präsentationen (PowerPoint, OpenDocument) werden zu PDFs. Bilder, Videos und PDFs bleiben, wie sie sind.",
  drop: "Dateien hier ablegen",
  or: "oder",
  choose: "Dateien auswählen",
  limit: (size) =>
    `ppt, pps, pot, pptx, ppsx, pptm, ppsm, potx, potm, odp, otp, pdf, png, jpeg, webp, gif, mp4, webm · je bis zu ${size}`,
  uploading: (share) => `Wird hochgeladen: ${share}`,
  storing: "Die Datei wird geprüft…",
  waits: "Wartet, bis sie an der Reihe ist",
  cancelUpload: (name) => `Hochladen von ${name} abbrechen`,
  cancelled: "Hochladen abgebrochen.",
  unreachable: "Das Hochladen wurde unterbrochen. Bitte erneut versuchen.",
  uploads: "Hochladen",
  list: "Medien",
  none: "Es wurde noch nichts hochgeladen.",
  failedList: "Die Liste der Medien konnte nicht geladen werden.",
  status: {
    pending: "Wartet",
    processing: "Wird umgewandelt",
    ready: "Bereit",
    failed: "Fehlgeschlagen",
    stored: "Gespeichert",
  },
  fault: {
    source_missing: "Die hochgeladene Datei liegt nicht mehr auf dem Medienlaufwerk.",
    source_changed: "Die Datei auf dem Medienlaufwerk ist nicht die, die hochgeladen wurde.",
    not_a_presentation: "Der Inhalt der Datei ist keine Präsentation oder ist beschädigt.",
    encrypted:
      "Die Präsentation ist durch ein Passwort geschützt; bitte ohne Passwort speichern und noch einmal hochladen.",
    too_large_unpacked: "Die Präsentation ist ausgepackt zu groß.",
    no_slides: "Die Präsentation hat keine Folien, die gezeigt werden können.",
    converter_refused: "Der Umwandler kann diese Datei nicht lesen; vielleicht ist sie beschädigt.",
    converter_failed: "Die Präsentation konnte nicht umgewandelt werden; vielleicht ist sie beschädigt.",
    took_too_long:
      "Die Präsentation umzuwandeln dauert länger als die {seconds} Sekunden, die eine dauern darf (CONVERSION_DEADLINE_SECONDS).",
    converter_busy: "Der Umwandler ist nicht verfügbar; die Umwandlung wartet und wird aufgegeben, wenn es so bleibt.",
    converter_cut: "Die Verbindung zum Umwandler brach ab, bevor das PDF vollständig war.",
    invalid_pdf: "Was der Umwandler geliefert hat, ist kein brauchbares PDF.",
    converter_unreachable: "Der Umwandler ist nicht erreichbar; die Umwandlung wartet auf ihn.",
    queue_full: "Der Umwandler hat zu viel zu tun; die Umwandlung wartet auf ihn.",
    volume_unavailable: "Das Medienlaufwerk ist voll oder nicht beschreibbar; die Umwandlung wartet darauf.",
    attempts_used_up: "Die Umwandlung wurde zu oft unterbrochen und darum aufgegeben.",
  },
  pages: (n) => count(n, "Seite", "Seiten"),
  attempt: (n) => `${n}. Versuch`,
  waitingBefore: (n) => `${number(n)} davor`,
  open: "Öffnen",
  openOf: (name) => `PDF von ${name} öffnen`,
  newTab: "In neuem Tab öffnen",
  download: "Herunterladen",
  warnings: (n) => count(n, "Warnung", "Warnungen"),
  notes: (n) => count(n, "Hinweis", "Hinweise"),
  warning: {
    pages_differ: (of) => `Aus ${slides(of["slides"])} wurden ${count(of["pages"], "Seite", "Seiten")}.`,
    hidden_slides: (of) => `${count(of["slides"], "ausgeblendete Folie fehlt", "ausgeblendete Folien fehlen")} im PDF.`,
    fonts_substituted: (of) =>
      Object.keys(of["same_widths"] ?? {}).length === of["fonts"].length
        ? `${count(of["fonts"].length, "Schrift wurde", "Schriften wurden")} durch eine gleich breite ersetzt:`
        : `${count(of["fonts"].length, "Schrift wurde", "Schriften wurden")} ersetzt; Zeilen brechen vielleicht anders um:`,
    fonts_not_known: (of) =>
      of["fonts"].length
        ? "Welche Schriften der Text verwendet, ist nicht bekannt; fehlende können unter diesen sein:"
        : "Welche Schriften der Text verwendet, ist nicht bekannt.",
    formulas_lost: (of) => `${count(of["count"], "Formel ist", "Formeln sind")} im PDF nicht zu sehen: ${on(of)}.`,
    charts_not_drawn: (of) =>
      `${count(of["count"], "Diagramm sieht", "Diagramme sehen")} anders aus als in PowerPoint: ${on(of)}. Bitte als Bild einfügen.`,
    pictures_missing: (of) =>
      `${count(of["count"], "Bild oder Objekt fehlt", "Bilder oder Objekte fehlen")} im PDF: ${on(of)}.`,
    pages_blank: (of) =>
      `${count(of["count"], "Seite ist", "Seiten sind")} leer, obwohl auf der Folie etwas steht: ${on(of)}.`,
    text_cut: (of) => `Text ist am Rand von ${count(of["count"], "Seite", "Seiten")} abgeschnitten: ${on(of)}.`,
    dates_stand_still: (of) =>
      `${count(of["count"], "Datum oder Uhrzeit ändert", "Daten oder Uhrzeiten ändern")} sich nicht mehr: ${on(of)}.`,
    chosen_slides_ignored: () =>
      "Die Präsentation zeigt nur ausgewählte Folien; das PDF enthält alle, die nicht ausgeblendet sind.",
    pages_not_read: (of) =>
      `${count(of["pages"], "Seite wurde", "Seiten wurden")} für diesen Bericht nicht gelesen; was dort fehlt, ist nicht bekannt.`,
    contents_not_known: () =>
      "Die Datei konnte für diesen Bericht nicht gelesen werden; was im PDF verloren ist, ist nicht bekannt.",
    motion_lost: (of) =>
      lost([
        of["videos"] && count(of["videos"], "Video", "Videos"),
        of["audios"] && count(of["audios"], "Ton", "Töne"),
        of["animated_slides"] && `Animation auf ${slides(of["animated_slides"])}`,
      ]),
    letters_missing: (of) =>
      `${count(of["count"], "Buchstabe kommt", "Buchstaben kommen")} in keiner Schrift des Umwandlers vor und ${of["count"] === 1 ? "erscheint" : "erscheinen"} als Kästchen: ${[of["letters"], ...(of["signs"] ?? [])].filter(Boolean).join(", ")}`,
    timing_lost: (of) =>
      lost([
        of["transitions"] && `Übergänge von ${slides(of["transitions"])}`,
        of["advancing"] && `selbsttätiger Wechsel von ${slides(of["advancing"])}`,
      ]),
    workbooks_not_asked: (of) =>
      `Diagramme zeigen die Zahlen, die in der Datei stehen; ${count(of["count"], "Arbeitsmappe wurde", "Arbeitsmappen wurden")} nicht nach neueren gefragt:`,
    links_not_followed: (of) =>
      `${count(of["count"], "verknüpfte Datei wurde", "verknüpfte Dateien wurden")} nicht abgerufen:`,
    hyperlinks: (of) => `${count(of["count"], "Verweis führt", "Verweise führen")} aus der Datei hinaus:`,
  },
  alike: (font, twin) => `${font}: ersetzt durch ${twin}, jeder Buchstabe gleich breit`,
  firstPage: (name) => `Erste Seite von ${name}`,
  moreOf: (name) => `Mehr zu ${name}`,
  rename: "Umbenennen…",
  convertAgain: "Neu umwandeln…",
  original: "Original herunterladen",
  delete: "Löschen…",
  newName: "Neuer Name",
  ask: {
    rename: { title: "Diese Datei umbenennen", text: "", go: "Umbenennen" },
    delete: {
      title: "Diese Datei löschen?",
      text: "Die Datei und ihr PDF sind endgültig weg. Displays, die sie über ihre Adresse zeigen, finden sie dann nicht mehr.",
      go: "Löschen",
    },
    again: {
      title: "Neu umwandeln?",
      text: "Sinnvoll, nachdem Schriften installiert wurden. Bis das neue PDF bereit ist, gilt das bisherige.",
      go: "Neu umwandeln",
    },
  },
  viewer: "Hochladen dürfen nur Bediener.",
  viewerRetry: "Neu umwandeln dürfen nur Bediener.",
  preview: (name) => `PDF von ${name}`,
};
