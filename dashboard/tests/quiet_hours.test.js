import assert from "node:assert/strict";
import test from "node:test";
import { emptyWeek, hoursNow, hoursOf, timesAfter, weekOf, weekWords, WORKDAYS } from "../lib/quiet_hours.js";

const times = (from, to, nights = null) => ({ from, to, nights });
const SHOP = [
  { days: WORKDAYS, from: "09:00", to: "13:00", nights: 0 },
  { days: WORKDAYS, from: "15:00", to: "19:30", nights: 0 },
  { days: ["saturday"], from: "10:00", to: "18:00", nights: 0 },
];
const at = (utc) => Date.parse(utc);

test("hours of several intervals a day go to the form and back", () => {
  const week = weekOf(SHOP);

  assert.deepEqual(week.monday, [times("09:00", "13:00"), times("15:00", "19:30")]);
  assert.deepEqual(week.sunday, []);
  assert.deepEqual(
    hoursOf(week),
    SHOP.map(({ days, from, to }) => ({ days, from, to })),
  );
});

test("the times of a day stand in their order, whatever the spans' order", () => {
  assert.deepEqual(weekOf([...SHOP].reverse()).tuesday, [times("09:00", "13:00"), times("15:00", "19:30")]);
});

test("an end at 24:00 is midnight of the next day, also of a whole day", () => {
  const bar = weekOf([{ days: ["friday"], from: "18:00", to: "24:00", nights: 0 }]);
  const whole = weekOf([{ days: ["sunday"], from: "00:00", to: "24:00", nights: 0 }]);

  assert.deepEqual(bar.friday, [times("18:00", "00:00")]);
  assert.deepEqual(hoursOf(whole), [{ days: ["sunday"], from: "00:00", to: "00:00" }]);
});

test("hours over midnight need no number of nights, and longer ones keep theirs", () => {
  const night = weekOf([{ days: ["friday"], from: "22:00", to: "02:00", nights: 1 }]);
  const weekend = weekOf([{ days: ["friday"], from: "18:00", to: "06:00", nights: 3 }]);

  assert.deepEqual(hoursOf(night), [{ days: ["friday"], from: "22:00", to: "02:00" }]);
  assert.deepEqual(hoursOf(weekend), [{ days: ["friday"], from: "18:00", to: "06:00", nights: 3 }]);
});

test("a week is said in few words: equal days together, days in a row as a range", () => {
  assert.equal(weekWords(weekOf(SHOP)), "Mon–Fri 09:00–13:00 and 15:00–19:30, Sat 10:00–18:00");
  const some = { ...emptyWeek(), monday: [times("09:00", "12:00")], wednesday: [times("09:00", "12:00")] };
  assert.equal(weekWords(some), "Mon, Wed 09:00–12:00");
  assert.equal(
    weekWords({ ...emptyWeek(), saturday: [times("22:00", "02:00")], sunday: [times("22:00", "02:00")] }),
    "Sat, Sun 22:00–02:00",
  );
  assert.equal(weekWords({ ...emptyWeek(), monday: [times("18:00", "00:00")] }), "Mon 18:00–24:00");
  assert.equal(weekWords(emptyWeek()), "");
});

test("times that are added to a day follow those that are there", () => {
  assert.deepEqual(timesAfter([]), times("09:00", "18:00"));
  assert.deepEqual(timesAfter([times("09:00", "13:00")]), times("14:00", "18:00"));
  assert.deepEqual(timesAfter([times("09:00", "22:30")]), times("23:00", "00:00"));
  assert.deepEqual(timesAfter([times("18:00", "00:00")]), times("23:00", "00:00"));
});

test("whether a shop is open is told at its own local time", () => {
  const week = weekOf(SHOP);

  assert.deepEqual(hoursNow(week, "Europe/Rome", at("2026-11-26T11:00:00Z")), { within: true, changes: "13:00" });
  assert.deepEqual(hoursNow(week, "Europe/Rome", at("2026-11-26T12:30:00Z")), { within: false, changes: "15:00" });
  assert.deepEqual(hoursNow(week, "Asia/Tokyo", at("2026-11-26T11:00:00Z")), { within: false, changes: "Fri 09:00" });
});

test("a shop that is closed on Saturday evening opens on Monday, and one in the small hours closes then", () => {
  const night = weekOf([{ days: ["sunday"], from: "22:00", to: "03:00", nights: 1 }]);

  assert.deepEqual(hoursNow(weekOf(SHOP), "UTC", at("2026-11-28T20:00:00Z")), { within: false, changes: "Mon 09:00" });
  assert.deepEqual(hoursNow(night, "UTC", at("2026-11-30T01:00:00Z")), { within: true, changes: "03:00" });
  assert.deepEqual(hoursNow(night, "UTC", at("2026-11-29T23:00:00Z")), { within: true, changes: "Mon 03:00" });
});

test("times that touch are one, and a shop that never closes says so", () => {
  const always = weekOf([{ days: Object.keys(emptyWeek()), from: "06:00", to: "06:00", nights: 1 }]);
  const joined = weekOf([
    { days: ["monday"], from: "09:00", to: "12:00", nights: 0 },
    { days: ["monday"], from: "12:00", to: "14:00", nights: 0 },
  ]);

  assert.deepEqual(hoursNow(always, "UTC", at("2026-11-26T11:00:00Z")), { within: true, changes: null });
  assert.deepEqual(hoursNow(joined, "UTC", at("2026-11-30T10:00:00Z")), { within: true, changes: "14:00" });
  assert.equal(hoursNow(joined, "Europe/Atlantis", at("2026-11-30T10:00:00Z")), null, "a zone that nobody knows here");
  assert.deepEqual(hoursNow(emptyWeek(), "UTC", at("2026-11-30T10:00:00Z")), { within: false, changes: null });
});
