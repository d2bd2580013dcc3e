/** A failed call in words: what happened, and what to do about it. */
import { ApiProblem } from "./api/call.js";
import { S } from "./strings.js";

/** Not the service's own answer: something before it answered in its place. */
const NOT_ASKED = /^(http_|api_unavailable)/;

/** What to quote to whoever runs the service, where it failed by its own account; else nothing. @param {unknown} error */
export function referenceOf(error) {
  return error instanceof ApiProblem && error.status >= 500 && !NOT_ASKED.test(error.code)
    ? ` ${S.reference(error.trace.slice(0, 8))}`
    : "";
}

/** @param {unknown} error */
export function wordsOf(error) {
  if (!(error instanceof ApiProblem) || NOT_ASKED.test(error.code)) return S.session.unreachable;
  return (S.refused[error.code] ?? error.message) + referenceOf(error);
}

/** What is said of something that is asked for again and again. @param {unknown} error */
export const againByItself = (error) => S.byItself + referenceOf(error);
