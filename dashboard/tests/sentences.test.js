import "./browser.js";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { inWords, sentenceWords } from "../lib/words/sentences.js";

/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const cases = read("./sentences.json"); // tests/rules/test_sentences.py holds them to the server's own English
const { schemas } = read("../../docs/openapi.json").components;
const codes = new Set(
  Object.entries(schemas).flatMap(([name, { properties }]) => (name.endsWith("Sentence") ? properties.code.enum : [])),
);

test("the page has words for every code of the server, and for no other", () => {
  assert.deepEqual(Object.keys(sentenceWords).sort(), [...codes].sort());
});

test("the page says in English what the server says", () => {
  for (const { code, params, english } of cases) assert.equal(inWords([{ code, params }]), english);
});

test("sentences follow one another, and one that a newer server says leaves the server's English", () => {
  const known = [{ code: "recovery_off", params: {} }];
  assert.equal(inWords([...known, { code: "all_well_again", params: {} }]).split(". ").length, 2);
  assert.equal(inWords([...known, { code: "of_newer_code", params: {} }]), null);
  assert.equal(inWords([{ code: "screen_unproven", params: { screen: "of newer code" } }]), null);
});
