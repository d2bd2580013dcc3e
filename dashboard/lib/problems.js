/** Texts of failed calls: what happened, and what to do. */
import { ApiProblem } from "./api/call.js";
import { commonWords, problemWords } from "./words/first.js";

/** The answer came from a gateway and not from the service. */
const NOT_ASKED = /^(http_|api_unavailable)/;

/**
 * The reference (start of the trace id) to quote to the operator when the service itself failed; otherwise nothing.
 * @param {unknown} error
 */
export function referenceOf(error) {
  return error instanceof ApiProblem && error.status >= 500 && !NOT_ASKED.test(error.code)
    ? ` ${problemWords.reference({ of: error.trace.slice(0, 8) })}`
    : "";
}

/** @param {unknown} error */
export function wordsOf(error) {
  if (!(error instanceof ApiProblem) || NOT_ASKED.test(error.code)) return problemWords.unreachable;
  return (problemWords.refused[error.code] ?? error.message) + referenceOf(error);
}

/** The same of something that the page asks for again and again. @param {unknown} error */
export const retryingAfter = (error) => commonWords.retrying + referenceOf(error);
