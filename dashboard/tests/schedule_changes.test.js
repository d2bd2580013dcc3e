import assert from "node:assert/strict";
import test from "node:test";
import { changesOf, wavesIn } from "../lib/schedule_changes.js";

const WEEKLY = /** @type {any} */ ({
  at: null,
  weekdays: ["monday", "friday"],
  local_time: "03:00",
  time_zone: "Europe/Rome",
  until: null,
  reason: "nightly",
});
const SAME = { weekdays: WEEKLY.weekdays, local_time: "03:00", time_zone: "Europe/Rome", until: null };

test("what stays is not sent", () => {
  assert.deepEqual(changesOf(WEEKLY, { ...SAME, reason: "nightly" }), {});
  assert.deepEqual(changesOf(WEEKLY, { ...SAME, weekdays: ["friday", "monday"] }), {});
  assert.deepEqual(changesOf(WEEKLY, { ...SAME, reason: "" }), { reason: "" });
});

test("other days, another time and an end are sent", () => {
  assert.deepEqual(changesOf(WEEKLY, { ...SAME, weekdays: ["monday"] }), { weekdays: ["monday"] });
  assert.deepEqual(changesOf(WEEKLY, { ...SAME, local_time: "04:00", until: "2026-12-01" }), {
    local_time: "04:00",
    until: "2026-12-01",
  });
  assert.deepEqual(changesOf({ ...WEEKLY, until: "2026-12-01" }, SAME), { until: null });
});

test("a moment is the same in every writing of it", () => {
  const once = /** @type {any} */ ({ at: "2026-12-01T03:00:00+00:00", reason: "" });

  assert.deepEqual(changesOf(once, { at: "2026-12-01T03:00:00.000Z", reason: "" }), {});
  assert.deepEqual(changesOf(once, { at: "2026-12-01T04:00:00.000Z" }), { at: "2026-12-01T04:00:00.000Z" });
});

test("a box asks for waves, and leaves waves of another kind alone", () => {
  assert.deepEqual(wavesIn(true, ["rest"]), [1, "10%", "rest"]);
  assert.deepEqual(wavesIn(false, [1, "10%", "rest"]), ["rest"]);
  assert.deepEqual(wavesIn(true, [5, "rest"]), [5, "rest"]);
  assert.deepEqual(wavesIn(false, ["rest"]), ["rest"]);
});
