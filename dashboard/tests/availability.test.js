import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { monthFrom, monthsUntil, shareWords, worstFirst } from "../lib/availability.js";

const spent = (up, down, unknown = 0, closed = 0) => ({
  up_seconds: up,
  down_seconds: down,
  unknown_seconds: unknown,
  closed_seconds: closed,
});

test("the latest months go back a year and over its turn", () => {
  const months = monthsUntil(Date.parse("2026-03-31T12:00:00Z"));

  assert.deepEqual(months.slice(0, 4), ["2026-03", "2026-02", "2026-01", "2025-12"]);
  assert.equal(months.length, 13);
  assert.equal(months[12], "2025-03");
});

test("the availability is a share of known open time and never rounds up to all", () => {
  assert.equal(shareWords(spent(99_999_999, 1, 500, 9_000)), "99.9 %");
  assert.equal(shareWords(spent(10, 0, 500)), "100 %");
  assert.equal(shareWords(spent(0, 0, 500, 500)), "–", "nothing is known");
});

test("the pages of an answer are one month", () => {
  const page = (name, up, down) => ({
    time_zone: "Europe/Rome",
    days: [{ date: "2026-03-01", ...spent(up, down) }],
    items: [{ uuid: name, name, ...spent(up, down) }],
  });

  const month = monthFrom([page("a", 10, 0), page("b", 6, 4)]);

  assert.deepEqual(month.days, [{ date: "2026-03-01", ...spent(16, 4) }]);
  assert.deepEqual(month.total, spent(16, 4));
  assert.deepEqual(
    month.displays.map((one) => one.name),
    ["b", "a"],
  );
});

test("the worst displays come first, and those of which nothing is known last", () => {
  const rows = [
    { name: "unknown", ...spent(0, 0, 9) },
    { name: "well", ...spent(9, 0) },
    { name: "bad", ...spent(1, 8) },
    { name: "also well", ...spent(2, 0) },
  ];

  assert.deepEqual(
    worstFirst(rows).map((one) => one.name),
    ["bad", "also well", "well", "unknown"],
  );
});
