import assert from "node:assert/strict";
import test from "node:test";
import { call, newTrace, problemOf, search, seconds, signedIn, signInNeeded, traceparent } from "../lib/api/call.js";

test("a query leaves out what is empty and repeats what is a list", () => {
  assert.equal(search({}), "");
  assert.equal(search({ cursor: null, q: "", since: undefined, level: [] }), "");
  assert.equal(
    search({ level: ["error", "critical"], q: "a&b", hours: 0 }),
    "?level=error&level=critical&q=a%26b&hours=0",
  );
});

test("a problem document keeps its code", () => {
  const problem = problemOf(409, '{"code": "command_in_flight", "status": 1, "detail": "busy"}');

  assert.deepEqual(problem, { code: "command_in_flight", status: 409, detail: "busy" });
});

test("whatever else refuses is a problem too", () => {
  for (const text of ["<html>", "", "null", "[]", '{"code": 5}'])
    assert.equal(problemOf(502, text).code, "http_502", text);
});

test("Retry-After is a number of seconds or nothing", () => {
  const headers = ["5", "0.5", null, "", "Wed, 21 Oct 2026 07:28:00 GMT", "Infinity"];

  assert.deepEqual(headers.map(seconds), [5, 0.5, null, null, null, null]);
});

test("each request has a trace context of its own", () => {
  const trace = newTrace();

  assert.match(traceparent(trace), new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
  assert.match(trace, /^[0-9a-f]{32}$/);
  assert.notEqual(newTrace(), trace);
});

test("a refusal that arrives after the sign-in is asked again, not the person", async (context) => {
  const answers = /** @type {((answer: Response) => void)[]} */ ([]);
  context.mock.method(globalThis, "fetch", () => new Promise((answer) => answers.push(answer)));
  const refused = [call("GET", "/api/one"), call("GET", "/api/other")];

  answers[0](new Response("", { status: 401 }));
  await new Promise(setImmediate);
  assert.equal(signInNeeded.value, true);
  signedIn();
  answers[1](new Response("", { status: 401 }));
  await new Promise(setImmediate);

  assert.equal(signInNeeded.value, false);
  for (const answer of answers.splice(2)) answer(Response.json("there"));
  assert.deepEqual(await Promise.all(refused), ["there", "there"]);
});
