/**
 * How the API is asked. The modules beside this one hold the addresses.
 *
 * A call answers the parsed body or throws: `ApiProblem` when the service said no, `Unreachable` when nothing
 * came back: nobody knows whether it was carried out. After a 401 it waits for a sign-in and is sent once more.
 */
import { signal } from "../../vendor/signals.js";
import { language } from "../language.js";

/** @typedef {import("../types").Problem} Problem */

/** Milliseconds of a call without a `limit`. */
const TIME_LIMIT = 15_000;

/** The service refused; `problem` is its document. */
export class ApiProblem extends Error {
  /**
   * @param {Problem} problem @param {number | null} retryAfter seconds, from the Retry-After header
   * @param {string} trace of the request
   */
  constructor(problem, retryAfter, trace) {
    super(problem.detail || problem.title);
    this.problem = problem;
    this.status = problem.status;
    this.code = problem.code;
    this.retryAfter = problem.retry_after_seconds ?? retryAfter;
    this.trace = trace;
  }
}

/** No answer: the network, the gateway, or a time-out. */
export class Unreachable extends Error {}

/** Whether calls wait for a person to sign in. */
export const signInNeeded = signal(false);

/** @type {(() => void)[]} */
const waiting = [];

/** Counted on this page. */
export let signIns = 0;

/** Ask for a new sign-in, unless there was one since the request. @param {number} before its `signIns` */
export function waitForSignIn(before) {
  if (before !== signIns) return Promise.resolve();
  signInNeeded.value = true;
  return /** @type {Promise<void>} */ (new Promise((resolve) => waiting.push(resolve)));
}

/** Send the calls after a 401 again. */
export function signedIn() {
  signIns++;
  signInNeeded.value = false;
  for (const resume of waiting.splice(0)) resume();
}

/** @type {() => void} */
let onForbidden = () => {};
/**
 * Register a callback for 403 answers: the caller's role allows less now.
 * @param {() => void} listener
 */
export function whenForbidden(listener) {
  onForbidden = listener;
}

/** @param {string | null} header a number of seconds */
export function seconds(header) {
  const value = Number(header);
  return header && Number.isFinite(value) ? value : null;
}

/**
 * The problem document of a refusal; a substitute for a gateway's HTML.
 * @param {number} status @param {string} text
 * @returns {Problem}
 */
export function problemOf(status, text) {
  try {
    const body = JSON.parse(text);
    if (body && typeof body.code === "string") return { ...body, status };
  } catch {
    // no JSON
  }
  const title = `The service answered ${status}.`;
  const code = `http_${status}`;
  return { type: "about:blank", title, status, detail: title, code, detail_code: code };
}

/**
 * The error of a refusal.
 * @param {number} status @param {string} text @param {string | null} retryAfter @param {string} trace
 */
export const refusalOf = (status, text, retryAfter, trace) =>
  new ApiProblem(problemOf(status, text), seconds(retryAfter), trace);

/** @param {number} bytes */
function hex(bytes) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** An id in every log line about one request, up to the display's answer. */
export const newTrace = () => hex(16);
/** It as a W3C trace context. @param {string} trace */
export const traceparent = (trace) => `00-${trace}-${hex(8)}-01`;

/** @typedef {{body?: unknown, headers?: Record<string, string>, signal?: AbortSignal, asks401?: boolean,
 *   limit?: number}} Options */

/**
 * @param {string} method @param {string} path @param {Options} options @param {string} trace
 * @returns {Promise<Response>}
 */
async function send(method, path, options, trace) {
  const limit = AbortSignal.timeout(options.limit ?? TIME_LIMIT);
  const headers = {
    Accept: "application/json",
    "Accept-Language": language,
    "X-Requested-With": "signage",
    traceparent: traceparent(trace),
    ...options.headers,
  };
  try {
    return await fetch(path, {
      method,
      credentials: "same-origin",
      headers: options.body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal ? AbortSignal.any([options.signal, limit]) : limit,
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable("no answer");
  }
}

/**
 * @param {string} method @param {string} path @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function call(method, path, options = {}) {
  const trace = newTrace();
  const before = signIns;
  const response = await send(method, path, options, trace);
  if (response.status === 401 && options.asks401 !== false) {
    await waitForSignIn(before);
    return call(method, path, { ...options, asks401: true });
  }
  const text = await response.text().catch(() => {
    throw new Unreachable("the answer was cut");
  });
  if (!response.ok) {
    if (response.status === 403) onForbidden();
    throw refusalOf(response.status, text, response.headers.get("Retry-After"), trace);
  }
  return text ? JSON.parse(text) : null;
}

/**
 * A query string; empty values are left out, a list becomes a repeated parameter.
 * @param {Record<string, string | number | string[] | null | undefined>} values
 */
export function search(values) {
  const pairs = Object.entries(values).flatMap(([key, value]) => [value ?? ""].flat().map((one) => [key, String(one)]));
  const text = new URLSearchParams(pairs.filter(([, value]) => value !== "")).toString();
  return text && `?${text}`;
}
