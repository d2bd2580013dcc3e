/**
 * Text as everybody can see it. Displays, files and people name things as they like: a control character would
 * vanish from the page (the escape of a terminal's colours), and a direction override would turn round what stands
 * after it ("gpj.exe" shown as "exe.jpg"). Both are shown as signs instead. Tab and line break stay; so do the marks
 * that Arabic and Hebrew text needs, because they turn nothing round.
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
