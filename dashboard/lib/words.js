// @ts-check
/** A failed call in words: what happened, and what to do about it. */
import { ApiProblem } from "./api.js";
import { S } from "./strings.js";

/** @param {unknown} error */
export function wordsOf(error) {
  if (!(error instanceof ApiProblem) || error.code.startsWith("http_")) return S.session.unreachable; // no problem document: not our answer
  return S.refused[error.code] ?? error.message;
}
