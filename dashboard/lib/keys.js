/** Single-key shortcuts. People can switch them off; no key sends a command. */
import { signal } from "../vendor/signals.js";
import { goToView } from "./url.js";

const STORED = "signage.shortcuts";

/** Whether the shortcuts are on. */
export const enabled = signal(localStorage.getItem(STORED) !== "off");
/** Whether the list of shortcuts is open. */
export const helpOpen = signal(false);
/** Index of the display that j and k have selected; -1 for none. */
export const active = signal(-1);
/** Index of the display that j or k has just selected: its row takes the focus, once. */
export const wanted = signal(-1);

/** @param {boolean} on */
export function enable(on) {
  enabled.value = on;
  localStorage.setItem(STORED, on ? "on" : "off");
}

let total = 0;
/** @type {(index: number) => void} */
let reveal = () => {};
/** @type {(index: number) => void} */
let pick = () => {};

/**
 * Set the list for j, k (move) and x (select).
 * @param {number} length @param {(index: number) => void} show @param {(index: number) => void} choose
 */
export function onMove(length, show, choose) {
  total = length;
  reveal = show;
  pick = choose;
}

/** Select the display at this place of the list. @param {number} index */
export function moveTo(index) {
  if (!total) return;
  active.value = Math.min(total - 1, Math.max(0, index));
  wanted.value = active.value;
  reveal(active.value);
}

/** @param {KeyboardEvent} event */
function isTyping(event) {
  const target = event.target;
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  );
}

function focusSearch() {
  const field = document.querySelector("main input[type=search]");
  if (field instanceof HTMLInputElement) field.focus();
}

/** When g was pressed, by the time of the event: a slow page handles events late. */
let afterG = -1500;

/** @type {Record<string, (event: KeyboardEvent) => unknown>} */
const KEYS = {
  "/": () => focusSearch(),
  j: () => moveTo(active.value + 1),
  k: () => moveTo(active.value - 1),
  x: () => active.value >= 0 && active.value < total && pick(active.value),
  "?": () => (helpOpen.value = true),
  g: (event) => (afterG = event.timeStamp),
};
/** @type {Record<string, () => void>} */
const AFTER_G = {
  f: () => goToView("fleet"),
  i: () => goToView("incidents"),
  q: () => goToView("quiet"),
  a: () => goToView("availability"),
  l: () => goToView("logs"),
  c: () => goToView("conversions"),
  s: () => goToView("settings"),
};

addEventListener("keydown", (event) => {
  if (!enabled.value || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  if (document.querySelector("dialog[open]")) return;
  const act = event.timeStamp - afterG < 1500 && AFTER_G[event.key] ? AFTER_G[event.key] : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act(event);
});
