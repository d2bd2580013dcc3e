/**
 * Tables as CSV files (RFC 4180, UTF-8 with a byte order mark for spreadsheets). A text from displays must not become a
 * formula: a cell that a spreadsheet would read as one begins with an apostrophe.
 */

const FORMULA = /^[\t\r\n]|^[\s\u0000-\u001f]*[=+\-@＝＋－＠]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** @param {string | number | null | undefined} value */
function cell(value) {
  const text = String(value ?? "");
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\r\n\t']/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {string[]} head @param {(string | number | null | undefined)[][]} rows */
export function csv(head, rows) {
  return "\ufeff" + [head, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
}

/** Hand a text to the browser as a file to keep. @param {string} name @param {string} text */
export function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // after the browser has read it
}
