import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { matches, searched } from "../lib/match.js";

const WELL = {
  uuid: "0a1b",
  name: "",
  status: "running",
  service_failed_at: null,
  screen_failed_since: null,
  tags: [],
};
/** A display that runs, but for what is said of it. */
const display = (of = {}) => ({ ...WELL, ...of });
/** Whether a search finds a display. */
const finds = (text, one) => matches(one, { words: searched(text) });

test("a search looks at every word that names a display", () => {
  const one = display({
    name: "Entrance",
    site: "Basel",
    hostname: "tv-7",
    ip: "10.1.2.3",
    app_version: "4.2.0",
    tags: ["Hall"],
  });

  for (const text of ["", "  ", "entr", "BASEL ", "tv-7", "1.2.3", "4.2", "hall", "0a1"]) {
    assert.ok(finds(text, one), text);
  }
  assert.ok(!finds("kiel", one));
  assert.ok(!finds("kiel", display({ site: null, hostname: null, tags: undefined })));
});

test("words are joined by and, whatever their order, accents and fields", () => {
  const one = display({ name: "Lobby North (2)", site: "Shop Köln", tags: ["Café"] });

  for (const text of ["lobby köln", "koln LOBBY", "cafe north", "Ko\u0308ln"]) assert.ok(finds(text, one), text);
  assert.ok(!finds("lobby basel", one));
});

test("a search finds what is wrong: status, unit, screen, heartbeats", () => {
  const at = "2026-11-21T12:00:00Z";
  const crashed = display({ status: "crashed", service_failed_at: at, service_failed_unit: "player.service" });
  const dark = display({ screen_health: "black", screen_failed_since: at });
  const mute = display({ recovery: { mute: true } });

  for (const text of ["crashed", "service failed", "player.service"]) assert.ok(finds(text, crashed), text);
  assert.ok(finds("screen black", dark));
  assert.ok(finds("no heartbeats", mute));
  for (const text of ["crashed", "service failed", "screen", "no heartbeats"]) assert.ok(!finds(text, display()), text);
});

test("a row that changed is searched as it is now", () => {
  const before = display({ name: "Old" });

  assert.ok(finds("old", before));
  assert.ok(!finds("old", { ...before, name: "New" }));
});

test("the running tile lists late displays too, the late one only those", () => {
  const late = display({ status: "late" });

  assert.ok(matches(late, { status: "running" }));
  assert.ok(matches(late, { status: "late" }));
  assert.ok(!matches(display(), { status: "late" }));
  assert.ok(!matches(late, { status: "running", words: ["kiel"] }));
});

test("a bad screen and an unsteady connection have a filter of their own", () => {
  const dark = display({ screen_health: "black", screen_failed_since: "2026-11-21T12:00:00Z" });
  const off = display({ screen_health: "off" });

  assert.deepEqual(
    [dark, off].map((one) => matches(one, { status: "screen_failed" })),
    [true, false],
  );
  assert.ok(matches(dark, { status: "unsteady", unsteady: new Map([["0a1b", 26]]) }));
  assert.ok(!matches(dark, { status: "unsteady", unsteady: new Map() }));
  assert.ok(!matches(dark, { status: "unsteady" }));
});

test("a passed limit has a filter of its own and is found by its words", () => {
  const full = display({ limits: [{ limit: "disk", value: 94, at: 90, since: "2026-11-21T12:00:00Z" }] });

  assert.deepEqual(
    [full, display()].map((one) => matches(one, { status: "limit_passed" })),
    [true, false],
  );
  assert.ok(finds("disk 94", full));
  assert.ok(!finds("disk", display()));
});

test("site, no site, tag and incident narrow together", () => {
  const basel = display({ site: "Basel", tags: ["menu"], incident_id: 12 });
  const none = display({ site: null, tags: ["menu"], incident_id: null });

  assert.deepEqual(
    [basel, none].map((one) => matches(one, { site: "Basel" })),
    [true, false],
  );
  assert.deepEqual(
    [basel, none].map((one) => matches(one, { nosite: true })),
    [false, true],
  );
  assert.deepEqual(
    [basel, none].map((one) => matches(one, { tag: "menu", incident: "12" })),
    [true, false],
  );
  assert.ok(!matches(basel, { site: "Basel", tag: "men" }));
});
