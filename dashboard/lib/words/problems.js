/** Texts of failed calls: what happened, and what to do. */
import { ApiProblem } from "../api/call.js";
import { translate } from "../language.js";
import { commonWords } from "./common.js";

export const problemWords = {
  /** What the service answers, by its code, where its own sentence is not for people. */
  refused: /** @type {Record<string, string>} */ ({
    command_in_flight: "This display already has an open command.",
    not_capable: "This display says that it cannot do this.",
    forbidden: "Your role does not allow this. It may have changed since you opened this page: ask an admin.",
    internal_error:
      "Something went wrong in the service. Try again; if it happens again, tell the person who runs the service.",
    api_timeout: "The service did not answer in time. Check whether it was done before you try again.",
  }),
  unreachable: "The service does not answer. Try again in a moment.",
  reference: (/** @type {string} */ of) => `Reference ${of}.`,
};

/** The answer came from a gateway and not from the service. */
const NOT_ASKED = /^(http_|api_unavailable)/;

/**
 * The reference (start of the trace id) to quote to the operator when the service itself failed; otherwise nothing.
 * @param {unknown} error
 */
export function referenceOf(error) {
  return error instanceof ApiProblem && error.status >= 500 && !NOT_ASKED.test(error.code)
    ? ` ${problemWords.reference(error.trace.slice(0, 8))}`
    : "";
}

/** @param {unknown} error */
export function wordsOf(error) {
  if (!(error instanceof ApiProblem) || NOT_ASKED.test(error.code)) return problemWords.unreachable;
  return (problemWords.refused[error.code] ?? error.message) + referenceOf(error);
}

/** The same of something that the page asks for again and again. @param {unknown} error */
export const retryingAfter = (error) => commonWords.retrying + referenceOf(error);

translate("problems", { problemWords });
