import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { countChanged, freeze, nextSort, sort, sortingOf } from "../lib/sorting.js";

const WELL = { name: "", status: "running", service_failed_at: null, screen_failed_since: null, limits: [], tags: [] };
/** A display that runs, but for what is said of it. */
const display = (uuid, of = {}) => ({ ...WELL, uuid, name: uuid, ...of });
const uuidsOf = (all, word) => sort([...all], sortingOf(word)).map((one) => one.uuid);
const everywhere = () => true;

test("a bad screen sorts as a failed service does", () => {
  const dark = display("dark", { screen_health: "black", screen_failed_since: "2026-11-21T12:00:00Z" });
  const off = display("off by plan", { screen_health: "off" });
  const all = [display("late", { status: "late" }), off, dark, display("stale", { status: "stale" })];

  assert.deepEqual(uuidsOf(all, "status"), ["stale", "dark", "late", "off by plan"]);
});

test("the worst come first, a failed service behind the crashed and the silent", () => {
  const all = [
    display("runs"),
    display("late", { status: "late" }),
    display("failed", { service_failed_at: "2026-11-21T12:00:00Z" }),
    display("stale", { status: "stale" }),
    display("crashed", { status: "crashed", service_failed_at: "2026-11-21T12:00:00Z" }),
    display("new", { status: "not known to this page" }),
  ];

  assert.deepEqual(uuidsOf(all, "status"), ["crashed", "stale", "failed", "late", "runs", "new"]);
});

test("a passed limit sorts as a failed service does", () => {
  const full = display("full", { limits: [{ limit: "disk", value: 94, at: 90, since: "2026-11-21T12:00:00Z" }] });
  const all = [display("late", { status: "late" }), full, display("runs"), display("stale", { status: "stale" })];

  assert.deepEqual(uuidsOf(all, "status"), ["stale", "full", "late", "runs"]);
});

test("names sort as people count, whatever their capitals, and downwards", () => {
  const all = ["Wall 10", "wall 9", "Wall 2"].map((name) => display(name));

  assert.deepEqual(uuidsOf(all, "name"), ["Wall 2", "wall 9", "Wall 10"]);
  assert.deepEqual(uuidsOf(all, "-name"), ["Wall 10", "wall 9", "Wall 2"]);
});

test("equal ones stand by name, then by uuid, in both directions", () => {
  const all = [display("c", { name: "A" }), display("b", { name: "A" }), display("a", { name: "B" })];

  assert.deepEqual(uuidsOf(all, "site"), ["b", "c", "a"]);
  assert.deepEqual(uuidsOf(all, "-site"), ["b", "c", "a"]);
});

test("what a display never reported stands first", () => {
  const never = display("never", { last_heartbeat_at: null, mqtt_reconnect_count: null });
  const once = display("once", { last_heartbeat_at: "2026-11-21T12:00:00Z", mqtt_reconnect_count: 0 });

  for (const column of ["hb", "rc", "ip", "version"]) assert.deepEqual(uuidsOf([once, never], column)[0], "never");
});

test("an address that names no column sorts by status", () => {
  assert.deepEqual(sortingOf("-<img>"), { column: "status", down: true });
  assert.deepEqual(sortingOf("-hb"), { column: "hb", down: true });
});

test("a heading sorts upwards, then downwards, then upwards again", () => {
  assert.equal(nextSort(sortingOf("status"), "name"), "name");
  assert.equal(nextSort(sortingOf("name"), "name"), "-name");
  assert.equal(nextSort(sortingOf("-name"), "name"), "name");
});

test("a frozen order counts those that would enter, leave or move", () => {
  const before = [display("stays"), display("moves"), display("leaves"), display("deleted")];
  const frozen = freeze(before, sortingOf("status"));
  const after = [display("stays"), display("moves", { status: "crashed" }), display("enters")];

  const count = countChanged(frozen, after, sortingOf("status"), (uuid) => uuid !== "deleted");

  assert.equal(count, 3);
});

test("an age that grows moves nothing", () => {
  const before = [display("a", { last_heartbeat_at: "2026-11-21T12:00:00Z" })];
  const after = [display("a", { last_heartbeat_at: "2026-11-21T12:00:30Z" })];

  assert.equal(countChanged(freeze(before, sortingOf("hb")), after, sortingOf("hb"), everywhere), 0);
});
