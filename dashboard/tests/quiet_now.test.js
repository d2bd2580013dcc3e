import "./rome.js";
import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { cutWords, indexed, isAtWork, quietFor, quietWord, rowWords, soon, waitingWords } from "../lib/quiet_now.js";

const NOW = Date.parse("2026-11-26T19:00:00Z"); // Thursday, 20:00 in Rome
const ROW = { uuid: "a", site: "Shop 12", tags: ["outdoor"] };
/** A quiet time that is on: maintenance of the fleet, but for what is said of it. */
const quiet = (of = {}) => ({
  id: 1,
  preset: "maintenance",
  quiet: ["recovery", "notices", "commands"],
  scope: "fleet",
  site: null,
  tag: null,
  clients: [],
  until: "2026-11-26T22:30:00Z",
  by: "user:ada",
  reason: "",
  ...of,
});
const ids = (all, place = ROW) => quietFor(indexed(all), place).map((one) => one.id);

test("a row says how it is quiet, until when in the viewer's zone, and by whom", () => {
  assert.equal(quietWord(quiet(), NOW), "In maintenance until 23:30, by ada");
  assert.equal(
    quietWord(quiet({ preset: "opening_hours", until: "2026-11-27T08:00:00Z" }), NOW),
    "Closed until Fri 09:00",
  );
  assert.equal(quietWord(quiet({ preset: "hold", until: null }), NOW), "Held, by ada");
  assert.equal(quietWord(quiet({ preset: "leave_out", until: null }), NOW), "Left out, by ada");
  assert.equal(quietWord(quiet({ preset: "snooze" }), NOW), "Snoozed until 23:30, by ada");
  assert.equal(quietWord(quiet({ by: "token:scripts#54bdd99d", until: null }), NOW), "In maintenance, by scripts");
  assert.equal(quietWord(quiet({ preset: "of a later version" }), NOW), "Quiet until 23:30, by ada");
});

test("an end on another day names the day, and one in another year the year", () => {
  assert.equal(soon("2026-11-28T22:30:00Z", NOW), "Sat 23:30");
  assert.equal(soon("2026-12-20T22:30:00Z", NOW), "20 Dec, 23:30");
  assert.equal(soon("2027-03-02T22:30:00Z", NOW), "2 Mar 2027, 23:30");
});

test("a display finds the quiet times of the fleet, its site, its tags and its own, and of no other", () => {
  const all = [
    quiet({ id: 1 }),
    quiet({ id: 2, scope: "site", site: "Shop 12" }),
    quiet({ id: 3, scope: "tag", tag: "outdoor" }),
    quiet({ id: 4, scope: "clients", clients: ["b", "a"] }),
    quiet({ id: 5, scope: "site", site: "Shop 1" }),
    quiet({ id: 6, scope: "tag", tag: "indoor" }),
    quiet({ id: 7, scope: "clients", clients: ["b"] }),
  ];

  assert.deepEqual(ids(all), [1, 2, 3, 4]);
  assert.deepEqual(ids(all, { uuid: "c", site: null, tags: null }), [1]);
  assert.deepEqual(ids(all, { uuid: "", site: "Shop 1" }), [1, 5], "a shop as a whole");
});

test("of several a row says the weightiest, and all of them in its title", () => {
  const all = [
    quiet({ id: 1, preset: "snooze", reason: "Roof" }),
    quiet({ id: 2, preset: "unheard of" }),
    quiet({ id: 3, preset: "opening_hours", until: "2026-11-27T08:00:00Z" }),
    quiet({ id: 4, preset: "hold", until: null, reason: "New cables" }),
  ];
  const said = rowWords(indexed(all), ROW, NOW);

  assert.equal(said?.word, "Closed until Fri 09:00");
  assert.equal(
    said?.title,
    "Closed until Fri 09:00 · Held, by ada (New cables) · Snoozed until 23:30, by ada (Roof) · Quiet until 23:30, by ada",
  );
  assert.equal(rowWords(indexed([]), ROW, NOW), null);
});

test("a command says what it cuts through, and a snooze is nothing to cut through", () => {
  const held = quiet({ id: 2, preset: "hold", quiet: ["recovery"], until: null, reason: "I work on it" });
  const snoozed = quiet({ id: 3, preset: "snooze", quiet: ["notices"] });

  assert.equal(
    cutWords([quiet({ reason: "New panels" }), held, snoozed], NOW),
    "It goes through a quiet time: In maintenance until 23:30, by ada (New panels); Held, by ada (I work on it).",
  );
  assert.equal(cutWords([snoozed], NOW), "");
  assert.deepEqual([quiet(), held, snoozed].map(isAtWork), [true, true, false]);
});

test("a bulk command says how many of its displays wait", () => {
  assert.equal(waitingWords(0), "");
  assert.match(waitingWords(1), /^1 display is in a quiet time/);
  assert.match(waitingWords(3), /^3 displays are in a quiet time/);
});
