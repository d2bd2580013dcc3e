import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { knownFor, periodsUntil, shareWords, siteFrom, together, worstFirst } from "../lib/availability.js";

const spent = (up, down, unknown = 0, closed = 0) => ({
  up_seconds: up,
  down_seconds: down,
  unknown_seconds: unknown,
  closed_seconds: closed,
});

test("the latest weeks run from Monday to Sunday, and months go back over the turn of the year", () => {
  const { weeks, months } = periodsUntil(Date.parse("2026-03-01T12:00:00Z")); // a Sunday

  assert.deepEqual(weeks.slice(0, 2), [
    { since: "2026-02-23", until: "2026-03-01" },
    { since: "2026-02-16", until: "2026-02-22" },
  ]);
  assert.equal(periodsUntil(Date.parse("2026-03-02T12:00:00Z")).weeks[0].since, "2026-03-02");
  assert.deepEqual(months.slice(0, 3), [
    { since: "2026-03-01", until: "2026-03-31" },
    { since: "2026-02-01", until: "2026-02-28" },
    { since: "2026-01-01", until: "2026-01-31" },
  ]);
  assert.deepEqual(months[12], { since: "2025-03-01", until: "2025-03-31" });
});

test("a figure says for how long its displays are known, on average, unless that is the open period", () => {
  const week = { displays: 2, period_seconds: 604_800 };

  assert.equal(knownFor({ ...week, ...spent(1200, 240) }), 720);
  assert.equal(knownFor({ ...week, ...spent(2 * 604_800, 0) }), null);
  assert.equal(knownFor({ ...week, ...spent(604_800, 0, 0, 604_800) }), null, "closed time is not missed");
});

test("the figures of sites together are those of all their displays", () => {
  const sums = [
    { displays: 2, period_seconds: 90, ...spent(10, 4) },
    { displays: 1, period_seconds: 80, ...spent(5, 1) },
  ];

  assert.deepEqual(together(sums), { displays: 3, period_seconds: 90, ...spent(15, 5) });
});

test("the availability is a share of known open time and never rounds up to all", () => {
  assert.equal(shareWords(spent(99_999_999, 1, 500, 9_000)), "99.9 %");
  assert.equal(shareWords(spent(10, 0, 500)), "100 %");
  assert.equal(shareWords(spent(0, 0, 500, 500)), "–", "nothing is known");
});

test("the pages of an answer are one site", () => {
  const page = (name, up, down) => ({
    time_zone: "Europe/Rome",
    period_seconds: 20,
    days: [{ date: "2026-03-01", ...spent(up, down) }],
    items: [{ uuid: name, name, ...spent(up, down) }],
  });

  const site = siteFrom([page("a", 10, 0), page("b", 6, 4)]);

  assert.deepEqual(site.days, [{ date: "2026-03-01", ...spent(16, 4) }]);
  assert.deepEqual(site.total, { displays: 2, period_seconds: 20, ...spent(16, 4) });
  assert.deepEqual(
    site.displays.map((one) => one.name),
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
