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

test("German says tag, lists and plurals as the pages do", async () => {
  const { refusalWords } = await import("../lib/words/de/refusals.js");
  const list = (/** @type {number | null} */ least, /** @type {number | null} */ most) =>
    refusalWords.field_list({ field: "x", least, most });

  assert.match(refusalWords.field_with_scope({ field: "x", scope: "tag" }), /„Schlagwort“/);
  assert.match(refusalWords.opening_hours_of_many({}), /oder ein Schlagwort/);
  assert.match(list(1, null), / mit mindestens 1 Eintrag\.$/);
  assert.match(list(1, 9), / mit mindestens 1 Eintrag und höchstens 9 Einträgen\.$/);
  assert.match(list(null, null), /eine Liste\.$/);
});

test("Japanese calls a recovery code by one name", async () => {
  const { secondFactorWords } = await import("../lib/words/ja/second_factor.js");
  const { refusalWords } = await import("../lib/words/ja/refusals.js");

  assert.ok(refusalWords.second_factor_required({}).includes(secondFactorWords.codes));
});
