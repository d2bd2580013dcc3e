/** The commands that this page sends or follows: one for each display, and a screenshot, from the click to the outcome. */
import { signal } from "../vendor/signals.js";
import { ApiProblem } from "./api/call.js";
import * as api from "./api/commands.js";
import { change, changing, ownCommandsOpen, refresh } from "./fleet.js";

/** @typedef {import("./types").Command} Command */
/** @typedef {import("./types").Action} Action */
/**
 * @typedef {object} Order
 * @property {Action} action of another page: perhaps one that this page does not know
 * @property {"sending" | "unknown" | "known" | "refused" | "lost"} phase
 *   unknown: no answer yet, the page asks again; lost: no answer, the service may have the command;
 *   refused: the service refused it
 * @property {Command | null} command
 * @property {ApiProblem | null} problem
 * @property {string | null} [cuts] the quiet times that it goes through
 */

const FOLLOW_EVERY = 1_500;
const ASK_AGAIN_AFTER = [1_000, 2_000, 4_000, 8_000, 15_000];
/** Phases in which this page shows its own command instead of the fleet's data. */
const WAITS = new Set(["sending", "unknown", "refused"]);
const OVER = new Set(["succeeded", "failed", "rejected", "expired", "timed_out", "cancelled"]);

/** @type {import("../vendor/signals.js").Signal<ReadonlyMap<string, Order>>} */
const orders = signal(new Map());

/** A screenshot goes its way beside another command. @param {string} uuid @param {string} [action] */
const placeOf = (uuid, action) => (action === "screenshot" ? `${uuid} screenshot` : uuid);

/** The command, or the screenshot, of a display that this page shows. @param {string} uuid @param {string} [action] */
export const orderOf = (uuid, action) => orders.value.get(placeOf(uuid, action));

/** Whether a command has ended. @param {{state?: string}} command */
export const isOver = (command) => OVER.has(command.state ?? "");

/** @param {string} uuid @param {Order} order */
const setOrder = (uuid, order) => put(placeOf(uuid, order.action), order);

/** @param {string} place @param {Order | null} order */
function put(place, order) {
  const next = new Map(orders.value);
  if (order) next.set(place, order);
  else next.delete(place);
  orders.value = next;
  ownCommandsOpen.value = [...next.values()].filter((o) => o.command && !isOver(o.command)).length;
}

/** @param {string} uuid @param {string} [action] */
export function dismiss(uuid, action) {
  put(placeOf(uuid, action), null);
}

/** @param {number} ms */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A version 4 UUID; `crypto.randomUUID` is missing on pages over plain HTTP. */
export function newUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The answer that a command is not taken; null where nobody knows. @param {unknown} error */
const refusalOf = (error) => (error instanceof ApiProblem && error.status < 502 ? error : null);

/**
 * Send until an answer comes: the idempotency key makes repeats the same command.
 * @param {string} uuid @param {Action} action
 */
async function sendForSure(uuid, action) {
  const key = newUuid();
  for (const wait of ASK_AGAIN_AFTER) {
    try {
      return await api.sendCommand(uuid, action, key);
    } catch (error) {
      if (refusalOf(error)) throw error;
      setOrder(uuid, { action, phase: "unknown", command: null, problem: null });
      await pause(wait);
    }
  }
  return api.sendCommand(uuid, action, key);
}

/** @param {string} uuid @param {Action} action */
export async function order(uuid, action) {
  setOrder(uuid, { action, phase: "sending", command: null, problem: null });
  try {
    const command = await changing(uuid, () => sendForSure(uuid, action));
    if (action !== "screenshot") change(uuid, { open_command: isOver(command) ? null : command });
    follow(uuid, command);
  } catch (error) {
    const problem = refusalOf(error);
    setOrder(uuid, { action, phase: problem ? "refused" : "lost", command: null, problem });
  }
  refresh();
}

/** @param {string} uuid */
export async function withdraw(uuid) {
  const current = orderOf(uuid);
  if (!current?.command) return;
  try {
    take(uuid, await api.cancelCommand(current.command.id));
  } catch (error) {
    const problem = error instanceof ApiProblem ? error : null;
    if (problem) setOrder(uuid, { ...current, problem });
  }
}

/**
 * End the open command, although the display may have it. Throws a refusal.
 * @param {string} uuid @param {string} reason
 */
export async function endAnyway(uuid, reason) {
  const command = orderOf(uuid)?.command;
  if (!command) return;
  take(uuid, await api.endCommand(command.id, reason));
  change(uuid, { open_command: null });
  refresh();
}

/** @param {string} uuid @param {Command} command `cuts_through` is told only when it is sent */
function take(uuid, command) {
  const before = orderOf(uuid, command.action);
  const kept = before?.command?.id === command.id ? before.cuts : null;
  const cuts = command.cuts_through ?? kept;
  const action = /** @type {Action} */ (command.action);
  setOrder(uuid, { action, phase: "known", command, problem: null, cuts });
}

/** Show one command's way until it ends. @param {string} uuid @param {Command} command */
async function follow(uuid, command) {
  take(uuid, command);
  let latest = command;
  const isShown = () => orderOf(uuid, command.action)?.command?.id === command.id;
  while (!isOver(latest) && isShown()) {
    await pause(FOLLOW_EVERY);
    latest = await api.getCommand(command.id).catch(() => latest); // the banner shows that the service does not answer
    if (isShown()) take(uuid, latest);
  }
  if (isOver(latest)) refresh();
}

/** Show the command that this display was sent last: it began and ended between two looks. @param {string} uuid */
export async function followLatest(uuid) {
  const current = orderOf(uuid);
  if (current && WAITS.has(current.phase)) return;
  const page = await api.commandsOf(uuid, null).catch(() => null);
  const command = page?.items.find((one) => one.action !== "screenshot");
  if (command && command.id !== current?.command?.id && orderOf(uuid) === current) follow(uuid, command);
}

/** Follow a command that somebody else (or recovery) has sent. @param {string} uuid @param {string} id */
export async function followOther(uuid, id) {
  const current = orderOf(uuid);
  if (current && (WAITS.has(current.phase) || current.command?.id === id)) return;
  const command = await api.getCommand(id).catch(() => null);
  if (command && orderOf(uuid) === current) follow(uuid, command);
}
