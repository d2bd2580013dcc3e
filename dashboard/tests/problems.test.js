import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { ApiProblem, Unreachable, problemOf } from "../lib/api/call.js";
import { referenceOf, retryingAfter, wordsOf } from "../lib/problems.js";

const TRACE = "0123456789abcdef0123456789abcdef";
const refusal = (status, code) =>
  new ApiProblem({ ...problemOf(status, ""), code, detail: "Its own words." }, null, TRACE);

test("a refusal has words of the page's own, or the service's", () => {
  assert.equal(wordsOf(refusal(409, "command_in_flight")), "This display already has an open command.");
  assert.equal(wordsOf(refusal(422, "name_taken")), "Its own words.");
});

test("a failure of the service itself comes with its reference", () => {
  assert.match(
    wordsOf(refusal(500, "internal_error")),
    /^Something went wrong in the service\..* Reference 01234567\.$/,
  );
  assert.equal(retryingAfter(refusal(500, "internal_error")), "Trying again automatically. Reference 01234567.");
});

test("no answer of the service is no reference, whoever answered in its place", () => {
  for (const error of [
    new Unreachable("no answer"),
    refusal(502, "http_502"),
    refusal(502, "api_unavailable"),
    "odd",
  ]) {
    assert.equal(wordsOf(error), "The service does not answer. Try again in a moment.");
    assert.equal(referenceOf(error), "");
  }
});
