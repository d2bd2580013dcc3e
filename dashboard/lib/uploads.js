/** Uploads: a few at a time, each with its progress; each can be cancelled. */
import { signal } from "../vendor/signals.js";
import { ApiProblem, signIns, waitForSignIn } from "./api/call.js";
import * as api from "./api/media.js";
import { wordsOf } from "./problems.js";

/**
 * @typedef {object} Upload
 * @property {number} id
 * @property {File} file
 * @property {"waits" | "uploading" | "failed" | "refused" | "cancelled"} phase
 *   refused: the service would refuse the same file again
 * @property {number} share 0 to 1
 * @property {string} error the failure, for people; empty without an answer
 */

const AT_ONCE = 2;

export const uploads = signal(/** @type {Upload[]} */ ([]));
/** Increases with every stored file. */
export const stored = signal(0);

let lastId = 0;
let running = 0;
/** @type {Map<number, () => void>} */
const cancels = new Map();

/** @param {number} id @param {Partial<Upload>} changes */
function update(id, changes) {
  uploads.value = uploads.value.map((one) => (one.id === id ? { ...one, ...changes } : one));
}

/** @param {Iterable<File>} files */
export function add(files) {
  /** @type {Upload[]} */
  const fresh = [...files].map((file) => ({ id: ++lastId, file, phase: "waits", share: 0, error: "" }));
  uploads.value = [...uploads.value, ...fresh];
  startWaiting();
}

/** @param {number} id */
export function cancel(id) {
  cancels.get(id)?.();
  const one = uploads.value.find((upload) => upload.id === id);
  if (one?.phase === "waits") update(id, { phase: "cancelled" });
}

/** @param {number} id */
export function retry(id) {
  update(id, { phase: "waits", share: 0, error: "" });
  startWaiting();
}

/** @param {number} id */
export function forget(id) {
  uploads.value = uploads.value.filter((upload) => upload.id !== id);
}

function startWaiting() {
  for (const one of uploads.value) {
    if (running >= AT_ONCE) return;
    if (one.phase === "waits") run(one);
  }
}

/** @param {Upload} one */
async function run(one) {
  running++;
  update(one.id, { phase: "uploading" });
  await send(one);
  cancels.delete(one.id);
  running--;
  startWaiting();
}

/** @param {Upload} one @returns {Promise<void>} */
async function send(one) {
  const before = signIns;
  const { done, cancel: stop } = api.upload(one.file, (share) => update(one.id, { share }));
  cancels.set(one.id, stop);
  try {
    await done;
    forget(one.id);
    stored.value++;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) {
      await waitForSignIn(before);
      return send(one);
    }
    update(one.id, outcome(error));
  }
}

/** @param {unknown} error @returns {Pick<Upload, "phase" | "error">} */
function outcome(error) {
  if (error instanceof DOMException && error.name === "AbortError") return { phase: "cancelled", error: "" };
  if (!(error instanceof ApiProblem)) return { phase: "failed", error: "" };
  const final = error.status < 500 && error.status !== 429;
  return { phase: final ? "refused" : "failed", error: wordsOf(error) };
}
