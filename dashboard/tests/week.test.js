import "./rome.js";
import assert from "node:assert/strict";
import test from "node:test";
import { weekOf } from "../lib/week.js";

const piece = (from, to, status = "running") => ({ from, to, status });
const at = (utc) => Date.parse(utc);
const NOW = at("2026-11-27T12:30:00Z"); // half past one in Rome
const WELL = piece("2026-11-20T12:30:00Z", "2026-11-27T12:30:00Z");

test("seven days from midnight to midnight, and today until its present hour", () => {
  const days = weekOf({ segments: [WELL], closed: [] }, NOW);

  assert.equal(days.length, 7);
  assert.equal(new Date(days[0].at).toISOString(), "2026-11-20T23:00:00.000Z");
  assert.deepEqual(
    days.map(({ hours }) => hours.length),
    [24, 24, 24, 24, 24, 24, 14],
  );
  assert.ok(days.every(({ hours }) => hours.every((state) => state === "running")));
});

test("an hour shows its worst state, and unknown time is unknown", () => {
  const segments = [
    piece("2026-11-20T12:30:00Z", "2026-11-26T08:50:00Z"),
    piece("2026-11-26T08:50:00Z", "2026-11-26T09:00:00Z", "crashed"),
    piece("2026-11-26T09:00:00Z", "2026-11-26T11:10:00Z", "unknown"),
    piece("2026-11-26T11:10:00Z", "2026-11-27T12:30:00Z"),
  ];
  const { hours } = weekOf({ segments, closed: [] }, NOW)[5];

  assert.deepEqual(hours.slice(8, 14), ["running", "crashed", "unknown", "unknown", "unknown", "running"]);
});

test("what was while the shop was closed is not shown, and an hour that was open in part is", () => {
  const segments = [
    piece("2026-11-20T12:30:00Z", "2026-11-26T19:00:00Z"),
    piece("2026-11-26T19:00:00Z", "2026-11-26T22:00:00Z", "stale"),
    piece("2026-11-26T22:00:00Z", "2026-11-27T12:30:00Z"),
  ];
  const closed = [
    { from: "2026-11-25T18:00:00Z", to: "2026-11-26T08:00:00Z" },
    { from: "2026-11-26T19:00:00Z", to: "2026-11-27T08:30:00Z" },
  ];
  const [thursday, friday] = weekOf({ segments, closed }, NOW).slice(5);

  assert.deepEqual(thursday.hours, [...Array(9).fill(null), ...Array(11).fill("running"), ...Array(4).fill(null)]);
  assert.deepEqual(friday.hours.slice(7), [null, null, "running", "running", "running", "running", "running"]);
});

test("a display that is two days old was nothing before", () => {
  const days = weekOf({ segments: [piece("2026-11-25T12:00:00Z", "2026-11-27T12:30:00Z")], closed: [] }, NOW);

  assert.ok(days.slice(0, 4).every(({ hours }) => hours.every((state) => state === null)));
  assert.deepEqual(days[4].hours.slice(12, 14), [null, "running"]);
});

test("a day on which the clocks change has an hour more", () => {
  const now = at("2026-10-26T10:00:00Z");
  const segments = [piece("2026-10-19T10:00:00Z", "2026-10-26T10:00:00Z")];

  assert.deepEqual(
    weekOf({ segments, closed: [] }, now).map(({ hours }) => hours.length),
    [24, 24, 24, 24, 24, 25, 11],
  );
});
