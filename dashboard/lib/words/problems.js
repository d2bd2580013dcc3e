/** A failed call in words: what happened, and what to do about it. */
import { ApiProblem } from "../api/call.js";
import { commonWords } from "./common.js";

/** What the service answers, by its code, where its own sentence is not for people. @type {Record<string, string>} */
const REFUSED = {
  command_in_flight: "This display already has an open command.",
  not_capable: "This display says that it cannot do this.",
  forbidden: "Your role does not allow this. It may have changed since you opened this page: ask an admin.",
  internal_error: "Something went wrong in the service. Try again; if it happens again, tell whoever runs the service.",
  api_timeout: "The service did not answer in time. Check whether it was done before you try again.",
};
const UNREACHABLE = "The service does not answer. Try again in a moment.";

/** Not the service's own answer: something before it answered in its place. */
const NOT_ASKED = /^(http_|api_unavailable)/;

/**
 * The reference (start of the trace id) to quote to the operator, where the service itself failed; else nothing.
 * @param {unknown} error
 */
export function referenceOf(error) {
  return error instanceof ApiProblem && error.status >= 500 && !NOT_ASKED.test(error.code)
    ? ` Reference ${error.trace.slice(0, 8)}.`
    : "";
}

/** @param {unknown} error */
export function wordsOf(error) {
  if (!(error instanceof ApiProblem) || NOT_ASKED.test(error.code)) return UNREACHABLE;
  return (REFUSED[error.code] ?? error.message) + referenceOf(error);
}

/** The same of something that the page asks for again and again. @param {unknown} error */
export const retryingAfter = (error) => commonWords.retrying + referenceOf(error);
