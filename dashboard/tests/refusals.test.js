import "./browser.js";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const cases = read("./refusals.json"); // tests/rules/test_refusals.py holds them to the server's own English
const { code, params } = read("../../docs/openapi.json").components.schemas.Refusal.properties;
/** The names of the facts of each sentence. @type {Map<string, string[]>} */
const factsOf = new Map(
  params.description
    .replace("by code: ", "")
    .split("; ")
    .map((/** @type {string} */ one) => one.split(": "))
    .map(([name, facts]) => [name, facts === "none" ? [] : facts.split(", ")]),
);

for (const language of ["de", "ja"]) {
  const { refusalWords, inWords } = await import(`../lib/words/${language}/refusals.js`);

  test(`every sentence of a refusal has words, and no other one: ${language}`, () => {
    assert.ok(code.enum.length > 200);
    assert.deepEqual(Object.keys(refusalWords).sort(), [...code.enum].sort());
  });

  test(`no fact is left out, and none is made up: ${language}`, () => {
    assert.deepEqual([...factsOf.keys()].sort(), [...code.enum].sort());
    for (const [name, facts] of factsOf) {
      const read = new Set();
      const given = cases.find((/** @type {any} */ one) => one.code === name)?.params ?? {};
      refusalWords[name](new Proxy(given, { get: (of, fact) => (read.add(fact), of[fact]) }));
      assert.deepEqual([...read].sort(), [...facts].sort(), name);
    }
  });

  test(`each is a sentence, with its facts in it: ${language}`, () => {
    const stop = language === "ja" ? "。" : ".";
    const others = code.enum.filter((/** @type {string} */ name) => factsOf.get(name)?.length === 0);
    const all = [...cases, ...others.map((/** @type {string} */ name) => ({ code: name, params: {} }))];
    for (const one of all) {
      const text = inWords([one]);
      assert.ok(text?.endsWith(stop), one.code);
      assert.doesNotMatch(text, /undefined|NaN|null|\[object/, one.code);
      assert.notEqual(text, one.english);
    }
  });

  test(`what only a newer server says has no words: ${language}`, () => {
    assert.equal(inWords([{ code: "of_newer_code", params: {} }]), null);
    assert.equal(inWords([{ code: "role_needed", params: { needed: "owner", role: "viewer" } }]), null);
  });
}
