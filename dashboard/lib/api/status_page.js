/** The status page of a site, for whoever has a link to it: without cookies and without a sign-in. */
import { language } from "../language.js";
import { newTrace, refusalOf, Unreachable } from "./call.js";

const TIME_LIMIT = 15_000;

/**
 * Null: the link is not valid.
 * @param {string} secret of the link @param {AbortSignal} abort
 * @returns {Promise<import("../openapi").StatusPage | null>}
 */
export async function statusPage(secret, abort) {
  const options = /** @type {RequestInit} */ ({
    credentials: "omit",
    referrerPolicy: "no-referrer",
    headers: { Accept: "application/json", "Accept-Language": language, "X-Status-Link": secret },
    signal: AbortSignal.any([abort, AbortSignal.timeout(TIME_LIMIT)]),
  });
  const response = await fetch("/api/status", options).catch((error) => {
    throw abort.aborted ? error : new Unreachable("no answer");
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  const refusal = refusalOf(response.status, text, response.headers.get("retry-after"), newTrace());
  if (refusal.code === "status_link_invalid") return null;
  throw refusal;
}
