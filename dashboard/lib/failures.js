/**
 * The service-failed panel's rows. An acknowledged row dims and stays: the next click cannot hit a neighbour.
 */
import { computed, signal } from "../vendor/signals.js";
import { ApiProblem } from "./api/call.js";
import { acknowledgeMended, clearServiceFailed } from "./api/failures.js";
import { getClient } from "./api/fleet.js";
import { change, changing, failures, refresh, whenFailuresLeave } from "./fleet.js";
import { failureWords } from "./words/trouble.js";
import { referenceOf, wordsOf } from "./problems.js";

/** @typedef {import("./types").Failure} Failure */
/**
 * The state of an acknowledgement.
 * @typedef {{phase: "sending" | "done" | "error" | "changed" | "elsewhere", failure: Failure, detail: string | null}}
 *   Mark
 * detail: who acknowledged it (elsewhere), when it failed again (changed), the error as a text (error)
 */

const READ_FOR = 4_000; // how long an acknowledged row stays
const ASK_WHO = 10; // above so many at once, the page does not ask for each who did it

export const marks = signal(/** @type {ReadonlyMap<string, Mark>} */ (new Map()));

/** @param {string} uuid @param {Mark | null} mark */
function setMark(uuid, mark) {
  const next = new Map(marks.value);
  if (mark) next.set(uuid, mark);
  else next.delete(uuid);
  marks.value = next;
}

/** @param {string} uuid @param {Mark} mark */
function showFor(uuid, mark) {
  setMark(uuid, mark);
  setTimeout(() => marks.value.get(uuid) === mark && setMark(uuid, null), READ_FOR);
}

/** The rows of the panel: open failures, and acknowledged ones for a while; newest first. */
export const panelRows = computed(() => {
  const listed = new Set(failures.value.map((failure) => failure.uuid));
  const lingering = [...marks.value.values()]
    .map((mark) => mark.failure)
    .filter((failure) => !listed.has(failure.uuid));
  const rows = lingering.length ? [...failures.value, ...lingering] : failures.value;
  return [...rows].sort((a, b) => Date.parse(b.service_failed_at) - Date.parse(a.service_failed_at));
});

/** @param {Failure} failure */
function forget(failure) {
  failures.value = failures.value.filter((other) => other.uuid !== failure.uuid);
  change(failure.uuid, { service_failed_at: null, service_failed_unit: null, service_mended_at: null });
}

/** @param {Failure} failure @param {unknown} error */
function markError(failure, error) {
  if (error instanceof ApiProblem && error.status === 412) {
    showFor(failure.uuid, { phase: "changed", failure, detail: error.problem.service_failed_at ?? null });
  } else {
    const refused = error instanceof ApiProblem && error.status < 500;
    const detail = refused ? failureWords.refused({ detail: wordsOf(error) }) : failureWords.error + referenceOf(error);
    setMark(failure.uuid, { phase: "error", failure, detail });
  }
}

/** Acknowledge one failure. @param {Failure} failure */
export async function acknowledge(failure) {
  const { uuid, service_failed_at } = failure;
  if (marks.value.get(uuid)?.phase === "sending") return;
  setMark(uuid, { phase: "sending", failure, detail: null });
  try {
    const client = await changing(uuid, () => clearServiceFailed(uuid, service_failed_at));
    const phase = client.cleared ? "done" : "elsewhere";
    showFor(uuid, { phase, failure, detail: client.cleared ? null : (client.service_failed_cleared_by ?? null) });
    forget(failure);
  } catch (error) {
    markError(failure, error);
  }
  refresh();
}

/**
 * Acknowledge those of these failures that are still mended and stand as shown.
 * @param {Failure[]} shown @returns {Promise<number>} how many were
 */
export async function acknowledgeMendedOnes(shown) {
  const ask = () => acknowledgeMended(shown);
  const guarded = shown.reduce(
    (next, { uuid }) =>
      () =>
        changing(uuid, next),
    ask,
  );
  const acknowledged = new Set((await guarded()).acknowledged);
  for (const failure of shown) {
    if (!acknowledged.has(failure.uuid)) continue;
    showFor(failure.uuid, { phase: "done", failure, detail: null });
    forget(failure);
  }
  refresh();
  return acknowledged.size;
}

/** Whether this page is acknowledging the row, or has. @param {string} uuid */
function isOurs(uuid) {
  const phase = marks.value.get(uuid)?.phase;
  return phase === "sending" || phase === "done";
}

/** @param {Failure} failure */
async function markElsewhere(failure) {
  const who = await getClient(failure.uuid).then(
    (client) => client.service_failed_cleared_by ?? null,
    () => null, // the row shows the acknowledgement without the name
  );
  if (!isOurs(failure.uuid)) showFor(failure.uuid, { phase: "elsewhere", failure, detail: who });
}

whenFailuresLeave((gone) => {
  const others = gone.filter((failure) => !isOurs(failure.uuid));
  for (const failure of others.slice(0, ASK_WHO)) markElsewhere(failure);
  for (const failure of others.slice(ASK_WHO)) showFor(failure.uuid, { phase: "elsewhere", failure, detail: null });
});
