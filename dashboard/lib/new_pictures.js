/**
 * New pictures of many displays, asked for in one press: a command for each, a few at a time. The service decides who
 * may be asked; a picture that somebody asked for already is awaited like one's own.
 */
import { signal } from "../vendor/signals.js";
import { ApiProblem } from "./api/call.js";
import { getCommand, sendCommand } from "./api/commands.js";
import { newestScreenshots, sitesOff } from "./api/screenshots.js";
import { isOver, newUuid, pause } from "./commands.js";
import { clients } from "./fleet.js";
import { pictures } from "./pictures.js";
import { poll } from "./poll.js";

/** @typedef {import("./types").Command} Command */
/** @typedef {import("./openapi").Screenshot} Screenshot */
/**
 * @typedef {"waiting" | "came" | "unable" | "hidden" | "away" | "silent" | "failed"} Step
 *   unable: the display sends no pictures; hidden: nobody may see its screen; away: not connected, so not asked;
 *   silent: it did not answer in time
 * @typedef {{step: Step, id: string | null, why: unknown}} Asked
 *   id: of the command, once it is known; why: the refusal, or the command that failed
 */

const AT_ONCE = 4; // requests for a command
const ASK_AGAIN_AFTER = [1_000, 2_000, 4_000, 8_000, 15_000]; // milliseconds, where no answer came
const LOOK_EVERY = 2_000; // milliseconds
const COMMANDS_IN_A_LOOK = 4;
const PICTURES_IN_A_REQUEST = 100;
/** How a refusal, or the end of a command, is told; anything else failed. @type {Record<string, Step>} */
const STEPS = { not_capable: "unable", screenshots_off: "hidden", expired: "silent", timed_out: "silent" };

/** What became of each display that was asked, by uuid. */
export const asked = signal(/** @type {ReadonlyMap<string, Asked>} */ (new Map()));

/** @param {string} uuid @param {Step} step @param {Partial<Asked>} [facts] */
function put(uuid, step, facts) {
  const next = new Map(asked.value);
  next.delete(uuid); // it goes to the end: the next look begins with others
  asked.value = next.set(uuid, { step, id: null, why: null, ...facts });
}

/** Whether a new picture of this display is on its way. @param {string} uuid */
export const isAwaited = (uuid) => asked.value.get(uuid)?.step === "waiting";

/** @type {string[]} */
const queue = [];
let senders = 0;

/**
 * Ask these displays for a new picture; those whose picture is on its way are not asked again.
 * @param {string[]} uuids
 */
export async function askForPictures(uuids) {
  const fresh = uuids.filter((uuid) => clients.has(uuid) && !isAwaited(uuid));
  for (const uuid of fresh) put(uuid, isConnected(uuid) ? "waiting" : "away");
  const off = await sitesOff().catch(() => /** @type {string[]} */ ([])); // no answer: the service refuses each of them
  for (const uuid of fresh.filter(isConnected)) {
    if (off.includes(clients.get(uuid)?.site ?? "")) put(uuid, "hidden");
    else if (isAwaited(uuid)) queue.push(uuid);
  }
  while (senders < AT_ONCE && queue.length) sendQueued();
}

/** @param {string} uuid */
const isConnected = (uuid) => clients.get(uuid)?.presence === "online";

async function sendQueued() {
  senders++;
  for (let uuid = queue.shift(); uuid; uuid = queue.shift()) await send(uuid);
  senders--;
}

let silentUntil = 0; // the service wants no request before, in `performance.now()`

/** Request the command; the same key makes repeats the same command. @param {string} uuid */
async function send(uuid) {
  const key = newUuid();
  for (const wait of [...ASK_AGAIN_AFTER, null]) {
    while (performance.now() < silentUntil) await pause(silentUntil - performance.now());
    try {
      const { id } = await sendCommand(uuid, "screenshot", key);
      return follow(uuid, id);
    } catch (error) {
      const other = error instanceof ApiProblem && error.problem.command_id;
      if (other) return follow(uuid, other); // somebody else's picture is on its way
      if (wait === null || !isPassing(error)) return put(uuid, stepOf(error), { why: error });
      const told = error instanceof ApiProblem && error.retryAfter;
      if (told) silentUntil = performance.now() + told * 1_000;
      else await pause(wait);
    }
  }
}

const IN_FLIGHT = "command_in_flight"; // without an id the other command is over by now

/** Whether the same request may be answered otherwise in a moment. @param {unknown} error */
const isPassing = (error) =>
  !(error instanceof ApiProblem) || error.status === 429 || error.status >= 502 || error.code === IN_FLIGHT;

/** @param {unknown} error @returns {Step} */
const stepOf = (error) => (error instanceof ApiProblem && STEPS[error.code]) || "failed";

// --- what became of them ---

/** @type {ReturnType<typeof poll> | null} */
let looking = null;

/** @param {string} uuid @param {string} id */
function follow(uuid, id) {
  put(uuid, "waiting", { id });
  looking ??= poll(look, () => LOOK_EVERY);
}

/** See which pictures are there, and how some of the commands stand. @param {AbortSignal} abort */
async function look(abort) {
  const awaited = [...asked.value].flatMap(([uuid, { step, id }]) => (step === "waiting" && id ? [{ uuid, id }] : []));
  if (!awaited.length) {
    looking?.stop();
    looking = null;
    return;
  }
  const first = awaited.slice(0, COMMANDS_IN_A_LOOK);
  const over = new Map();
  await Promise.all(first.map(async ({ uuid, id }) => over.set(uuid, await endOf(id, abort))));
  const newest = new Map();
  for (let at = 0; at < awaited.length; at += PICTURES_IN_A_REQUEST) {
    const uuids = awaited.slice(at, at + PICTURES_IN_A_REQUEST).map(({ uuid }) => uuid);
    for (const one of (await newestScreenshots(uuids, abort)).items) newest.set(one.client_uuid, one);
  }
  for (const { uuid, id } of awaited) settle(uuid, id, newest.get(uuid), over.get(uuid));
}

/** How a command ended; null while it has not. A command that is not known any more has failed. @param {string} id @param {AbortSignal} abort */
async function endOf(id, abort) {
  try {
    const command = await getCommand(id, abort);
    return isOver(command) ? command : null;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return error;
    throw error;
  }
}

/**
 * @param {string} uuid @param {string} id @param {Screenshot | undefined} picture the display's newest
 * @param {Command | ApiProblem | null | undefined} end of the command; undefined: nobody looked
 */
function settle(uuid, id, picture, end) {
  const done = end && "state" in end && end.state === "succeeded";
  if (picture && (picture.command_id === id || done)) {
    pictures.learn(uuid, picture);
    put(uuid, "came");
  } else if (done)
    put(uuid, "hidden"); // it was taken away since
  else if (end) put(uuid, "state" in end ? (STEPS[end.state] ?? "failed") : "failed", { why: end });
  else if (end === null) put(uuid, "waiting", { id });
}
