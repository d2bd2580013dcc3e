/** One's own second factor. */
import { translate } from "../language.js";

export const secondFactorWords = {
  title: "Second factor",
  off: "You sign in with your password alone.",
  on: "You sign in with your password and a code from your app, since",
  left: (/** @type {number} */ n) => (n === 1 ? "One recovery code is left." : `${n} recovery codes are left.`),
  begin: "Set up a second factor…",
  remove: "Remove the second factor…",
  setUp: "Set up a second factor",
  what: "You need an app that makes codes: an authenticator, or a password manager. From then on you enter its code when you sign in.",
  next: "Next",
  password: "Current password",
  code: "Code",
  qr: "The app's secret as a QR code",
  scan: "Scan this with the app.",
  typed: "Or type this into it:",
  copySecret: "Copy the secret",
  first: "The six digits that the app shows now.",
  either: "The six digits that the app shows now, or a recovery code.",
  confirm: "Switch it on",
  codes: "Recovery codes",
  once: "Keep these now: they are not shown again.",
  keep: "Each works once instead of a code, should you lose your phone. Keep them with your important papers. Without phone and codes, an admin can reset your second factor.",
  kept: "I have kept them",
  copyCodes: "Copy the recovery codes",
  removeTitle: "Remove the second factor?",
  removeText: "Your password alone will be enough to sign in. Your other sessions end.",
  removeGo: "Remove",
  pageTitle: "Set up a second factor",
  why: "People with your role sign in with a password and a code from an app. Set it up before you continue.",
};

translate("second_factor", { secondFactorWords });
