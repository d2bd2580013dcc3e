/**
 * Text with visible special characters. Names come from displays, files and people. A control character would be
 * invisible, and a direction override would reverse the text after it ("gpj.exe" looks like "exe.jpg"). This module
 * replaces both by visible signs. It keeps tabs, line breaks, and the marks that Arabic and Hebrew texts need.
 */
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]|\r(?!\n)/g;

/** "␛" for a control character, "‹U+202E›" for one without a sign of its own. @param {string} one */
function sign(one) {
  const code = one.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "␡" : `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
}

/** @param {string} text */
export function plain(text) {
  return text.replace(UNSEEN, sign);
}
