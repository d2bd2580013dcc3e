/** Uploaded media and their conversion. */
import { count } from "../format.js";
import { translate } from "../language.js";

/** @param {(string | false | undefined)[]} parts */
const lost = (parts) => `Lost in the PDF: ${parts.filter(Boolean).join(", ")}.`;

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
  pages: (/** @type {number} */ n) => count(n, "page", "pages"),
  attempt: (/** @type {number} */ n) => `attempt ${n}`,
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
    contents_not_known: () => "The file could not be read for this report: fonts, motion and links are not known.",
    motion_lost: (of) =>
      lost([
        of["videos"] && count(of["videos"], "video", "videos"),
        of["audios"] && count(of["audios"], "sound", "sounds"),
        of["animated_slides"] && `animation on ${count(of["animated_slides"], "slide", "slides")}`,
      ]),
    letters_missing: (of) =>
      `${count(of["count"], "letter has", "letters have")} no glyph in any font of the converter and ${of["count"] === 1 ? "is" : "are"} shown as boxes: ${of["letters"]}`,
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

translate("conversions", { conversionWords });
