import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";

process.env.TZ = "UTC";
const { ago, count, exact, full, left, nameOf, number, person } = await import("../lib/format.js");

const at = (text) => `2026-11-21T${text}Z`;
const NOON = Date.parse(at("12:00:00"));

test("ages are short, and of one unit", () => {
  const ages = [0, 1, 89, 90, 5399, 5400, 129599, 129600].map((s) =>
    ago(new Date(NOON - s * 1000).toISOString(), NOON),
  );

  assert.deepEqual(ages, [
    "0 s ago",
    "1 s ago",
    "89 s ago",
    "2 min ago",
    "90 min ago",
    "2 h ago",
    "36 h ago",
    "2 d ago",
  ]);
});

test("nothing happened in the future", () => {
  assert.equal(ago(at("12:00:05"), NOON), "0 s ago");
});

test("a countdown ends at nought", () => {
  const shown = [at("12:00:42"), at("12:01:00"), at("13:02:03"), at("12:00:00.001"), at("11:00:00")];

  assert.deepEqual(
    shown.map((until) => left(until, NOON)),
    ["0:42", "1:00", "1:02:03", "0:01", "0:00"],
  );
});

test("today has a clock time, another day its date, another year that year", () => {
  const today = new Date();
  today.setUTCHours(14, 2, 11);
  const otherDay = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() === 5 ? 6 : 5, 3, 14, 2));

  assert.equal(exact(today.toISOString()), "14:02:11");
  assert.match(exact(otherDay.toISOString()), /^3 (Jun|Jul)[a-z]*, 14:02$/);
  assert.equal(exact("2020-11-03T14:02:00Z"), "3 Nov 2020, 14:02");
});

/** Zone -> four moments, an hour and a half and half an hour before and after it changed its clocks. */
const CHANGES = {
  "Europe/Berlin": ["2020-10-24T23:30:00Z", ["01:30", "02:30", "02:30", "03:30"]],
  "America/New_York": ["2020-03-08T05:30:00Z", ["00:30", "01:30", "03:30", "04:30"]],
  "Asia/Kolkata": ["2020-03-08T05:30:00Z", ["11:00", "12:00", "13:00", "14:00"]],
};

for (const [zone, [first, clock]] of Object.entries(CHANGES)) {
  test(`times are those of the reader's zone when its clocks change: ${zone}`, async () => {
    process.env.TZ = zone;
    const there = await import(`../lib/format.js?${zone}`); // formats take the zone when they are made
    const moments = [0, 1, 2, 3].map((hours) => new Date(Date.parse(first) + hours * 3_600_000).toISOString());

    assert.deepEqual(
      moments.map((one) => there.exact(one).slice(-5)),
      clock,
    );
    assert.equal(new Set(moments.map(there.full)).size, 4); // an hour that comes twice is told apart there
    process.env.TZ = "UTC";
  });
}

test("the whole date has day, year, seconds and zone", () => {
  assert.match(full("2020-11-03T14:02:11Z"), /^Tuesday,? 3 November 2020\D+14:02:11 UTC$/);
});

test("a number is written with its noun", () => {
  assert.deepEqual(
    [0, 1, 2, 12_345].map((n) => count(n, "display", "displays")),
    ["0 displays", "1 display", "2 displays", "12,345 displays"],
  );
  assert.equal(number(1234.56), "1,234.6");
});

test("people and displays have names", () => {
  assert.deepEqual(["user:anna", "token:ci", "token:ci#54bdd99d", "recovery"].map(person), [
    "anna",
    "ci",
    "ci",
    "recovery",
  ]);
  const uuid = "0a1b2c3d-0000-4000-8000-000000000000";
  assert.deepEqual(
    [{ name: "Hall", hostname: "tv-7" }, { name: "", hostname: "tv-7" }, { hostname: null }].map((of) =>
      nameOf({ uuid, ...of }),
    ),
    ["Hall", "tv-7", "0a1b2c3d"],
  );
});
