import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import test from "node:test";

process.env.TZ = "Europe/Berlin";
Object.defineProperty(globalThis, "navigator", {
  value: { languages: ["tlh", "de_DE", "de-DE@posix", "de-AT", "en"] },
  configurable: true,
});
const { chosen, language, locale, translate, wordsLoaded } = await import("../lib/language.js");
const { ago, count, exact, number } = await import("../lib/format.js");
const { duration, percentOf } = await import("../lib/measures.js");

const folder = new URL("../lib/words/", import.meta.url);

test("the first language of the browser that the page speaks is the reader's, with its region", () => {
  assert.deepEqual([chosen, language, locale], [undefined, "de", "de-AT"]);
});

test("an own choice goes before the browser's languages, and nonsense is none", async () => {
  for (const [stored, expected] of [
    ["en", "en"],
    ["de", "de"],
    ["tlh", "de"],
    ["toString", "de"],
  ]) {
    globalThis.localStorage = { getItem: () => stored };
    assert.equal((await import(`../lib/language.js?${stored}`)).language, expected);
  }
  delete globalThis.localStorage;
});

test("numbers, ages, lengths of time and dates are German", async () => {
  await wordsLoaded();
  const now = Date.parse("2026-11-21T12:00:00Z");

  assert.equal(number(1234.56), "1.234,6");
  assert.equal(ago("2026-11-21T11:57:00Z", now), "vor 3\u00a0Min.");
  assert.equal(duration(2 * 86400 + 4 * 3600), "2\u00a0Tg. 4\u00a0Std.");
  assert.equal(percentOf(0.9996), "99,9\u00a0%");
  assert.equal(count(2, "Display", "Displays"), "2 Displays");
  assert.match(exact("2020-11-03T14:02:00Z"), /^3\. ?(Nov\.?|11\.) ?2020, 15:02$|^03\.11\.2020, 15:02$/);
});

test("every file of words has the German ones once they are loaded", async () => {
  const files = readdirSync(new URL("de", folder)).filter((file) => !/^(refusals|sentences)\.js$/.test(file));
  for (const file of files) {
    const english = await import(new URL(file, folder));
    await wordsLoaded();
    const german = await import(new URL(`de/${file}`, folder));

    for (const [name, words] of Object.entries(german)) assert.deepEqual(english[name], words, `${file} ${name}`);
  }
});

test("English stays where a file cannot be loaded", async () => {
  const words = { title: "Fleet", state: { on: "On" } };
  translate("no such file", { words });
  await wordsLoaded();

  assert.deepEqual(words, { title: "Fleet", state: { on: "On" } });
});

test("English stays where a newer page has words that an older file lacks", async () => {
  const statusWords = { running: "Running", brand_new: "Brand new" };
  translate("first", { statusWords });
  await wordsLoaded();

  assert.equal(statusWords.running, "Läuft");
  assert.equal(statusWords.brand_new, "Brand new");
});

test("why a conversion failed is told in German, and in the server's English where only a newer server knows its code", async () => {
  const { faultOf } = await import("../lib/conversion_report.js");
  await wordsLoaded();
  const late = (message) => faultOf({ error_code: "took_too_long", error_message: message });

  assert.match(late("It takes longer than the 1200 seconds that one may take."), /länger als die 1\.200 Sekunden/);
  assert.equal(late("It takes too long."), "It takes too long.");
  assert.equal(faultOf({ error_code: "of_newer_code", error_message: "Its English." }), "Its English.");
  assert.equal(faultOf({ error_code: null, error_message: null }), "");
});
