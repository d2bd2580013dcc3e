import assert from "node:assert/strict";
import test from "node:test";

process.env.TZ = "Asia/Tokyo";
Object.defineProperty(globalThis, "navigator", { value: { languages: ["ja-JP"] }, configurable: true });
const { wordsLoaded } = await import("../lib/language.js");
const { ago, exact, number } = await import("../lib/format.js");
const { duration, percentOf } = await import("../lib/measures.js");
const { listed } = await import("../lib/lists.js");
const { weekOf, weekWords } = await import("../lib/quiet_hours.js");

test("numbers, ages, lengths of time and dates are Japanese, without spaces", async () => {
  await wordsLoaded();
  const now = Date.parse("2026-11-21T12:00:00Z");

  assert.equal(number(1234.56), "1,234.6");
  assert.equal(ago("2026-11-21T11:57:00Z", now), "3分前");
  assert.equal(duration(2 * 86400 + 4 * 3600), "2日4時間");
  assert.equal(percentOf(0.9996), "99.9%");
  assert.match(exact("2020-11-03T14:02:00Z"), /^2020[/年]11[/月]0?3日? 23:02$/);
});

test("lists and ranges are Japanese", async () => {
  await wordsLoaded();
  const week = weekOf([
    { days: ["monday", "tuesday", "wednesday"], from: "09:00", to: "12:00" },
    { days: ["sunday"], from: "10:00", to: "24:00" },
  ]);

  assert.equal(listed(["menu", "lobby"]), "menu、lobby");
  assert.equal(weekWords(week), "月～水 09:00～12:00、日 10:00～24:00");
});
