/** The server's sentences in another language. A process has one language: each has its own file of tests. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const ENGLISH = new RegExp(
  "(?<![\\p{L}_])(?:the|and|of|is|are|were|not|no|this|that|with|since|until|all|by|from|for|ago|or|it|its|as" +
    "|running|silent|crashed|stale|failed|heartbeats?|reboots?|restarts?|screen|recovery|site|subnet|cluster|service" +
    "|batch|breaker|error|succeeded|cancelled|seconds?|minutes?|hours?|days?|waits?|well)(?![\\p{L}_])",
  "iu",
);
/** What people and displays wrote, and names. */
const DATA = new Set(["by", "reason", "message", "unit", "site", "tag", "key", "time_zone", "receiver"]);
const TIMES = new Set(["at", "since", "until"]);
/** Data that have a word: ways a screen fails, causes, recovery and its reasons, the service. */
const WORDED = /^(?:black|frozen|disconnected|off|no_ack|recovery|service|cancelled by .*|.*, attempt \d of \d)$/;
const NEWER = "of_newer_code";

/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const cases = read("./sentences.json"); // tests/rules/test_sentences.py holds them to the server's own English
const { schemas } = read("../../docs/openapi.json").components;
const codes = new Set(
  Object.entries(schemas).flatMap(([name, { properties }]) => (name.endsWith("Sentence") ? properties.code.enum : [])),
);

/** The data in the facts, as a sentence shows them. @param {any} of @returns {string[]} */
function dataIn(of) {
  const found = Object.entries(of ?? {}).flatMap(([key, value]) => {
    if (typeof value === "object") return dataIn(value);
    return typeof value === "string" && DATA.has(key) ? [value.trim().replace(/^user:|\.+$/g, "")] : [];
  });
  return found.filter(Boolean).sort((a, b) => b.length - a.length);
}

/** @param {string} text @param {string} comma of thousands */
const numbersIn = (text, comma) => text.match(/\d+(?:[.,]\d{3}(?!\d))*/g)?.map((n) => n.replaceAll(comma, "")) ?? [];

/** @param {{tag: string, stop: string, comma: string}} language */
export async function sentencesIn({ tag, stop, comma }) {
  Object.defineProperty(globalThis, "navigator", { value: { languages: [tag] }, configurable: true });
  const { wordsLoaded } = await import("../lib/language.js");
  const { sentenceWords, inWords } = await import(`../lib/words/${tag.slice(0, 2)}/sentences.js`);
  await wordsLoaded();
  const told = cases.map((one) => ({ ...one, text: inWords([one]) }));
  const own = told.filter(({ text }) => text !== null);

  test("every sentence of the server is in this language, but for facts that only newer code knows", () => {
    const english = told.filter(({ text }) => text === null);

    assert.ok(own.length > 0);
    assert.deepEqual(
      english.filter(({ params }) => !JSON.stringify(params).includes(NEWER)),
      [],
    );
    for (const { code, params, text } of own) {
      const without = dataIn(params).reduce((rest, data) => rest.replaceAll(data, "…"), text);
      assert.doesNotMatch(without, ENGLISH, code);
      assert.doesNotMatch(text, /undefined|null|NaN|\[object| {2}/, code);
    }
  });

  test("the page has words for every code of the server, and for no other", () => {
    assert.deepEqual(Object.keys(sentenceWords).sort(), [...codes].sort());
  });

  test("it ends as the English does", () => {
    for (const { code, english, text } of own)
      assert.equal(/[.:。]$/.test(text) ? "ends" : "goes on", /[.:]$/.test(english) ? "ends" : "goes on", code);
    for (const { english, text } of own) if (english.endsWith(".")) assert.equal(text.at(-1), stop, text);
  });

  test("it shows the facts that the English shows", () => {
    for (const { params, english, text } of own) {
      for (const data of dataIn(params))
        if (english.includes(data) && !WORDED.test(data)) assert.ok(text.includes(data), `${data}: ${text}`);
      if (Object.keys(params).some((key) => TIMES.has(key))) continue;
      const numbers = numbersIn(text, comma);
      for (const n of numbersIn(english, ",")) assert.ok(numbers.includes(n), `${n}: ${text}`);
    }
  });

  test("a sentence that only a newer server says leaves the server's English", () => {
    const known = { code: "receiver_forbidden", params: {} };

    assert.equal(inWords([known, { code: NEWER, params: {} }]), null);
    for (const [code, params] of [
      ["screen_unproven", { screen: NEWER }],
      ["command_due", { basis: NEWER, screen: null, action: "restart_app" }],
      ["command_open", { action: NEWER }],
      ["state_changed", { before: "running", after: NEWER }],
    ])
      assert.equal(inWords([known, { code, params }]), null, code);
    assert.equal(inWords([known, known]).split(stop).length, 2 * inWords([known]).split(stop).length - 1);
  });

  return { inWords };
}
