/** Uploaded media and their conversion. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

/** @param {(string | false | undefined)[]} parts */
const lost = (parts) => `Lost in the PDF: ${parts.filter(Boolean).join(", ")}.`;

/** @param {Record<string, any>} of */
const slides = (of) => `${of["slides"].length === 1 ? "slide" : "slides"} ${of["slides"].join(", ")}`;

export const conversionWords = {
  title: "Presentations",
  lead: "Presentations (PowerPoint, OpenDocument) become PDFs. Pictures, videos and PDFs are kept as they are.",
  drop: "Drop files here",
  or: "or",
  choose: "Choose files",
  limit: (/** @type {string} */ size) =>
    `ppt, pps, pot, pptx, ppsx, pptm, ppsm, potx, potm, odp, otp, pdf, png, jpeg, webp, gif, mp4, webm · up to ${size} each`,
  uploading: (/** @type {string} */ share) => `Uploading ${share}`,
  storing: "Checking the file…",
  waits: "Waiting for its turn",
  cancelUpload: (/** @type {string} */ name) => `Cancel the upload of ${name}`,
  cancelled: "Upload cancelled.",
  unreachable: "The upload was cut off. Try again.",
  uploads: "Uploads",
  list: "Media",
  none: "Nothing has been uploaded yet.",
  failedList: "The list of media could not be loaded.",
  status: /** @type {Record<string, string>} */ ({
    pending: "Waiting",
    processing: "Converting",
    ready: "Ready",
    failed: "Failed",
    stored: "Stored",
  }),
  /** Why one failed, by the code: the service's own English. @type {Record<string, string>} */
  fault: {
    source_missing: "The uploaded file is no longer on the media volume.",
    source_changed: "The file on the media volume is not the one that was uploaded.",
    not_a_presentation: "The file's content is not a presentation, or is damaged.",
    encrypted: "The presentation is protected by a password; save it without one and upload it again.",
    too_large_unpacked: "The presentation is too large once unpacked.",
    no_slides: "The presentation has no slides that can be shown.",
    converter_refused: "The converter cannot read this file; it may be damaged.",
    converter_failed: "The presentation could not be converted; it may be damaged.",
    took_too_long:
      "The presentation takes longer to convert than the {seconds} seconds that one may take (CONVERSION_DEADLINE_SECONDS).",
    converter_busy: "The converter is not available; the conversion waits and is given up when it stays so.",
    converter_cut: "The connection to the converter broke before the PDF was complete.",
    invalid_pdf: "The converter's result is not a usable PDF.",
    converter_unreachable: "The converter cannot be reached; the conversion waits for it.",
    queue_full: "The converter has too much to do; the conversion waits for it.",
    volume_unavailable: "The media volume is full or not writable; the conversion waits for it.",
    attempts_used_up: "The conversion was interrupted too often and was given up.",
  },
  pages: (/** @type {number} */ n) => count(n, "page", "pages"),
  attempt: (/** @type {number} */ n) => `attempt ${n}`,
  waitingBefore: (/** @type {number} */ n) => `${number(n)} before it`,
  open: "Open",
  openOf: (/** @type {string} */ name) => `Open the PDF of ${name}`,
  newTab: "Open in a new tab",
  download: "Download",
  warnings: (/** @type {number} */ n) => count(n, "warning", "warnings"),
  notes: (/** @type {number} */ n) => count(n, "note", "notes"),
  /** What a report warns of, by its code. @type {Record<string, (of: Record<string, any>) => string>} */
  warning: {
    pages_differ: (of) => `${count(of["slides"], "slide", "slides")} became ${count(of["pages"], "page", "pages")}.`,
    hidden_slides: (of) => `${count(of["slides"], "hidden slide is", "hidden slides are")} not in the PDF.`,
    fonts_substituted: (of) =>
      Object.keys(of["same_widths"] ?? {}).length === of["fonts"].length
        ? `${count(of["fonts"].length, "font was", "fonts were")} replaced by one with the same widths:`
        : `${count(of["fonts"].length, "font was", "fonts were")} replaced; lines may break elsewhere:`,
    fonts_not_known: (of) =>
      of["fonts"].length
        ? "It is not known which fonts its text uses; missing ones may be among these:"
        : "It is not known which fonts its text uses.",
    formulas_lost: (of) => `${count(of["count"], "formula", "formulas")} cannot be seen in the PDF: ${slides(of)}.`,
    charts_not_drawn: (of) =>
      `${count(of["count"], "chart does", "charts do")} not look as in PowerPoint: ${slides(of)}. Paste it as a picture.`,
    pictures_missing: (of) =>
      `${count(of["count"], "picture or object is", "pictures or objects are")} missing in the PDF: ${slides(of)}.`,
    pages_blank: (of) =>
      `${count(of["count"], "page is", "pages are")} blank although something is on the slide: ${slides(of)}.`,
    text_cut: (of) => `Text is cut at the edge of ${count(of["count"], "page", "pages")}: ${slides(of)}.`,
    dates_stand_still: (of) =>
      `${count(of["count"], "date or time", "dates or times")} will not change any more: ${slides(of)}.`,
    chosen_slides_ignored: () => "The presentation shows only chosen slides; the PDF has all that are not hidden.",
    pages_not_read: (of) =>
      `${count(of["pages"], "page was", "pages were")} not read for this report; what is lost there is not known.`,
    contents_not_known: () => "The file could not be read for this report; what is lost in the PDF is not known.",
    motion_lost: (of) =>
      lost([
        of["videos"] && count(of["videos"], "video", "videos"),
        of["audios"] && count(of["audios"], "sound", "sounds"),
        of["animated_slides"] && `animation on ${count(of["animated_slides"], "slide", "slides")}`,
      ]),
    letters_missing: (of) =>
      `${count(of["count"], "letter has", "letters have")} no glyph in any font of the converter and ${of["count"] === 1 ? "is" : "are"} shown as boxes: ${[of["letters"], ...(of["signs"] ?? [])].filter(Boolean).join(", ")}`,
    timing_lost: (of) =>
      lost([
        of["transitions"] && `transitions of ${count(of["transitions"], "slide", "slides")}`,
        of["advancing"] && `automatic advance of ${count(of["advancing"], "slide", "slides")}`,
      ]),
    workbooks_not_asked: (of) =>
      `Charts show the figures kept in the file; ${count(of["count"], "workbook was", "workbooks were")} not opened for newer ones:`,
    links_not_followed: (of) => `${count(of["count"], "linked file was", "linked files were")} not fetched:`,
    hyperlinks: (of) => `${count(of["count"], "link leads", "links lead")} out of the file:`,
  },
  alike: (/** @type {string} */ font, /** @type {string} */ twin) =>
    `${font}: replaced by ${twin}, each letter as wide`,
  firstPage: (/** @type {string} */ name) => `First page of ${name}`,
  moreOf: (/** @type {string} */ name) => `More about ${name}`,
  rename: "Rename…",
  convertAgain: "Convert again…",
  original: "Download original",
  delete: "Delete…",
  newName: "New name",
  ask: {
    rename: { title: "Rename this file", text: "", go: "Rename" },
    delete: {
      title: "Delete this file?",
      text: "The file and its PDF are gone for good. Displays that show it by its address will not find it.",
      go: "Delete",
    },
    again: {
      title: "Convert it again?",
      text: "Useful after fonts were installed. The current PDF is served until the new one is ready.",
      go: "Convert again",
    },
  },
  viewer: "Only operators can upload.",
  viewerRetry: "Only operators can convert again.",
  preview: (/** @type {string} */ name) => `PDF of ${name}`,
};

/**
 * Why a conversion failed. The service's own text stays for a code that only a newer service knows.
 * @param {Pick<import("../types").Conversion, "error_code" | "error_message">} conversion
 */
export function faultOf({ error_code, error_message }) {
  const said = error_message ?? "";
  const seconds = said.match(/\d+/)?.[0];
  const words = conversionWords.fault[error_code ?? ""] ?? said;
  if (!words.includes("{seconds}")) return words;
  return seconds ? words.replace("{seconds}", number(Number(seconds))) : said;
}

translate("conversions", { conversionWords });
