import "./rome.js";
import "./browser.js";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  LENGTHS,
  PRESETS,
  bodyOf,
  changesOf,
  coveredBy,
  draftOf,
  hasHours,
  localTime,
  mayBeWeekly,
  moment,
  needsEnd,
  needsReason,
  newDraft,
  quietOf,
  refusalOf,
  shownFields,
  withPreset,
} from "../lib/quiet_form.js";
import { emptyWeek } from "../lib/quiet_hours.js";
import { previewOf } from "../lib/quiet_preview.js";

const NOW = Date.parse("2026-11-26T12:00:00Z"); // Thursday, 13:00 in Rome
const ONE = { scope: "clients", clients: ["a"] };
const draft = (preset, of = {}) => ({ ...newDraft(preset, null, "Europe/Rome"), site: "Shop 12", ...of });
const OPEN = { ...emptyWeek(), thursday: [{ from: "09:00", to: "19:30", nights: null }] };
const refused = (code, detail) => ({
  code: "quiet_times_refused",
  detail,
  detail_code: code,
});
const stored = (of = {}) => ({
  id: 12,
  preset: "maintenance",
  quiet: ["recovery", "notices", "commands"],
  scope: "site",
  site: "Shop 12",
  tag: null,
  clients: [],
  starts_at: "2026-11-26T20:00:00Z",
  ends_at: "2026-11-26T22:30:00Z",
  hours: [],
  time_zone: null,
  reason: "New panels",
  ...of,
});

/** tests/rules/test_dashboard_quiet_form.py holds them to the service's rules. */
const presets = JSON.parse(readFileSync(new URL("quiet_presets.json", import.meta.url), "utf8"));

for (const { preset, quiet, needs_reason, hours, needs_end, lengths } of presets)
  test(`the form asks of a preset what the service asks: ${preset}`, () => {
    const once = draft(preset);

    assert.deepEqual(quietOf({ ...once, quiet: ["commands"] }), quiet ?? ["commands"]);
    assert.equal(needsReason(once), needs_reason);
    assert.equal(hasHours(once), hours === "must");
    assert.equal(mayBeWeekly(once), hours === "may");
    assert.equal(hasHours({ ...once, weekly: true }), hours !== "never");
    assert.deepEqual(LENGTHS[preset]?.hours ?? [], lengths);
    if (lengths.length) assert.equal(LENGTHS[preset].open, !needs_end);
    assert.equal(needsEnd(once), needs_end);
    assert.equal(mayBeWeekly(once) && needsEnd({ ...once, weekly: true }), false);
  });

test("the form has every preset", () => {
  assert.deepEqual(
    PRESETS,
    presets.map(({ preset }) => preset),
  );
});

test("a hold of four hours ends four hours from the server's now, and one without an end says none", () => {
  const four = { ...newDraft("hold", ONE, "UTC"), length: "4", reason: " I work on it " };

  assert.deepEqual(bodyOf(four, NOW), {
    preset: "hold",
    scope: "clients",
    clients: ["a"],
    ends_at: "2026-11-26T16:00:00.000Z",
    reason: "I work on it",
  });
  assert.equal("ends_at" in bodyOf({ ...four, length: "open" }, NOW), false);
});

test("maintenance sends its times, typed in the viewer's zone", () => {
  const body = bodyOf(draft("maintenance", { starts: "2026-11-26T21:00", ends: "2026-11-26T23:30" }), NOW);

  assert.equal(body.starts_at, "2026-11-26T20:00:00.000Z");
  assert.equal(body.ends_at, "2026-11-26T22:30:00.000Z");
  assert.equal(body.site, "Shop 12");
  assert.equal("hours" in body || "quiet" in body, false);
});

test("opening hours send hours and their zone, and none of the fields that they do not take", () => {
  const body = bodyOf(draft("opening_hours", { week: OPEN, starts: "2026-11-26T21:00", length: "at" }), NOW);

  assert.deepEqual(body, {
    preset: "opening_hours",
    scope: "site",
    site: "Shop 12",
    hours: [{ days: ["thursday"], from: "09:00", to: "19:30" }],
    time_zone: "Europe/Rome",
    reason: "",
  });
});

test("leaving out sends no end, and a free choice sends what is quiet in the API's order", () => {
  assert.equal("ends_at" in bodyOf(draft("leave_out", { length: "4" }), NOW), false);
  assert.deepEqual(bodyOf(draft("custom", { quiet: ["commands", "recovery"] }), NOW).quiet, ["recovery", "commands"]);
});

test("a change sends only what differs", () => {
  const time = stored();
  const open = draftOf(time, "Europe/Rome");

  assert.deepEqual(changesOf(open, time, NOW), {});
  assert.deepEqual(changesOf({ ...open, ends: "2026-11-27T00:30" }, time, NOW), {
    ends_at: "2026-11-26T23:30:00.000Z",
  });
  assert.deepEqual(changesOf({ ...open, reason: "Cables" }, time, NOW), { reason: "Cables" });
});

test("a hold is made longer from now on, or until somebody ends it", () => {
  const time = stored({ preset: "hold", ends_at: "2026-11-26T13:00:00Z" });
  const open = draftOf(time, "UTC");

  assert.deepEqual(changesOf({ ...open, length: "24" }, time, NOW), { ends_at: "2026-11-27T12:00:00.000Z" });
  assert.deepEqual(changesOf({ ...open, length: "open" }, time, NOW), { ends_at: null });
});

test("other hours are sent with nothing else, and hours that are given up take their zone with them", () => {
  const hours = [{ days: ["thursday"], from: "09:00", to: "24:00", nights: 0 }];
  const time = stored({ preset: "opening_hours", ends_at: null, hours, time_zone: "Asia/Tokyo" });
  const weekly = stored({ hours, time_zone: "Asia/Tokyo" });

  assert.deepEqual(changesOf(draftOf(time, "UTC"), time, NOW), {}, "24:00 is no change");
  assert.deepEqual(changesOf({ ...draftOf(time, "UTC"), week: OPEN }, time, NOW), {
    hours: [{ days: ["thursday"], from: "09:00", to: "19:30" }],
  });
  assert.deepEqual(changesOf({ ...draftOf(weekly, "UTC"), weekly: false }, weekly, NOW), {
    hours: [],
    time_zone: null,
  });
});

test("a moment comes back to the field as the viewer's clock showed it", () => {
  assert.equal(localTime("2026-11-26T20:00:00Z"), "2026-11-26T21:00");
  assert.equal(localTime("2026-07-01T20:00:30Z"), "2026-07-01T22:00:30");
  assert.equal(localTime(null), "");
  assert.equal(moment("202611-01-01T00:00"), null, "no year of the calendar");
});

test("opening hours are about no single displays", () => {
  assert.equal(withPreset({ ...newDraft("hold", ONE, "UTC") }, "opening_hours").scope, "site");
  assert.equal(withPreset(draft("snooze", { length: "72" }), "hold").length, "1");
});

test("what the API refuses stands beside the field that it is about", () => {
  const shown = shownFields(draft("maintenance"), false);
  const said = (problem) => refusalOf(problem, shown);

  assert.deepEqual(said(refused("quiet_end_before_start", "ends_at must be after starts_at.")), {
    fields: { ends: "The end must be after the start." },
    other: "",
  });
  assert.deepEqual(
    said({ code: "invalid_field", detail: "starts_at: expected a time.", errors: [{ field: "starts_at" }] }).fields,
    { starts: "Expected a time." },
  );
  assert.deepEqual(said({ code: "clients_unknown", detail: "2 of these clients do not exist." }).fields, {
    whom: "2 of these clients do not exist.",
  });
  assert.deepEqual(said({ code: "too_many_requests", detail: "Wait a moment." }), {
    fields: {},
    other: "Wait a moment.",
  });
});

test("what it refuses about hours stands at the hours, and at the foot where the form shows none", () => {
  const problem = refused("quiet_hours_length", "Weekly hours end after they begin, within 7 days.");
  const nested = {
    code: "invalid_field",
    detail: "hours[0].from: expected a text.",
    errors: [{ field: "hours[0].from" }],
  };
  const open = shownFields(draft("opening_hours"), false);

  assert.equal(refusalOf(problem, open).fields.hours, problem.detail);
  assert.equal(refusalOf(nested, open).fields.hours, "Expected a text.");
  assert.equal(refusalOf({ code: "time_zone_unknown", detail: "No such zone." }, open).fields.zone, "No such zone.");
  assert.equal(refusalOf(problem, shownFields(draft("hold"), false)).other, problem.detail);
});

test("each rule of the API is said at the field that it is about", () => {
  const shown = shownFields(draft("maintenance", { weekly: true }), false);
  const at = (code) => Object.keys(refusalOf(refused(code, "Nein."), [...shown, "quiet"]).fields);

  assert.deepEqual(at("quiet_needs_reason"), ["reason"]);
  assert.deepEqual(at("opening_hours_of_many"), ["whom"]);
  assert.deepEqual(at("quiet_only_of_custom"), ["quiet"]);
  assert.deepEqual(at("quiet_has_begun"), ["starts"]);
  assert.deepEqual(at("quiet_too_long"), ["ends"]);
  assert.deepEqual(at("opening_hours_need_hours"), ["hours"]);
  assert.equal(refusalOf(refused("of_newer_code", "Nein."), shown).other, "Nein.");
});

test("it is counted whom a quiet time is about", () => {
  const displays = [
    { uuid: "a", site: "Shop 12", tags: ["outdoor"] },
    { uuid: "b", site: "Shop 12", tags: [] },
    { uuid: "c", site: null, tags: null },
  ];

  assert.equal(coveredBy(draft("maintenance"), displays), 2);
  assert.equal(coveredBy(draft("maintenance", { scope: "fleet" }), displays), 3);
  assert.equal(coveredBy(draft("maintenance", { scope: "tag", tag: "outdoor" }), displays), 1);
  assert.equal(coveredBy(newDraft("hold", ONE, "UTC"), displays), 1);
});

const about = { covered: 14, name: "", reference: NOW };

test("a sentence says what will be quiet, for whom and until when, in the viewer's zone", () => {
  assert.equal(
    previewOf(draft("maintenance", { ends: "2026-11-26T23:30" }), about),
    "No automatic restarts, no messages, bulk commands wait for Shop 12 (14 displays), from now until 23:30 (Europe/Rome).",
  );
  assert.equal(
    previewOf(draft("maintenance", { starts: "2026-11-27T21:00", ends: "2026-11-27T23:30" }), about),
    "No automatic restarts, no messages, bulk commands wait for Shop 12 (14 displays), from Fri 21:00 until Fri 23:30 (Europe/Rome).",
  );
  assert.equal(
    previewOf({ ...newDraft("hold", ONE, "UTC"), length: "open" }, { covered: 1, name: "Lobby", reference: NOW }),
    "No automatic restarts for Lobby, from now until somebody ends it.",
  );
});

test("the sentence of opening hours says whether the shop is open there now", () => {
  assert.equal(
    previewOf(draft("opening_hours", { week: OPEN }), about),
    "No automatic restarts, no messages, the screen may be off for Shop 12 (14 displays), outside of Thu 09:00–19:30 (Europe/Rome). Open now, closes 19:30.",
  );
  assert.equal(
    previewOf(draft("maintenance", { weekly: true, week: OPEN, zone: "Asia/Tokyo" }), about),
    "No automatic restarts, no messages, bulk commands wait for Shop 12 (14 displays), each week Thu 09:00–19:30 (Asia/Tokyo). Next: Thu 09:00.",
  );
});

test("what is still missing is said instead", () => {
  assert.equal(previewOf(draft("maintenance", { site: "  " }), about), "Choose whom it is about.");
  assert.equal(previewOf(draft("maintenance"), about), "Say until when.");
  assert.equal(previewOf(draft("hold", { length: "at" }), about), "Say until when.");
  assert.equal(previewOf(draft("custom", { quiet: [] }), about), "Choose what is quiet.");
  assert.equal(previewOf(draft("opening_hours"), about), "Give at least one day its hours.");
});
