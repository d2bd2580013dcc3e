import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { isPartly, piecesOf, uptimeSentence } from "../lib/uptime.js";

const HOUR = 3600;
const window = (of = {}) => ({
  hours: 24,
  known_seconds: 24 * HOUR,
  unknown_seconds: 0,
  closed_seconds: 0,
  shares: { running: 1 },
  ...of,
});
const said = (of) => uptimeSentence({ windows: [window(of)] }, 1);

test("the time outside of opening hours is said apart and does not count as unknown", () => {
  const open = { known_seconds: 10 * HOUR, closed_seconds: 14 * HOUR };

  assert.equal(
    said(open),
    "Up 100 % of the opening hours of the last 24 hours. Closed for 14 h, which does not count.",
  );
  assert.equal(isPartly(window(open), 1), false);
  assert.equal(isPartly(window({ known_seconds: 10 * HOUR }), 1), true, "without opening hours it is");
});

test("a shop that was closed all the time, and one of which nothing is known", () => {
  assert.equal(
    said({ known_seconds: 0, closed_seconds: 24 * HOUR, shares: {} }),
    "Closed for 1 d, which does not count.",
  );
  assert.equal(
    said({ known_seconds: 0, unknown_seconds: 10 * HOUR, closed_seconds: 14 * HOUR, shares: {} }),
    "Nothing is known about this time. Closed for 14 h, which does not count.",
  );
});

test("without opening hours nothing is said of them", () => {
  assert.equal(said({}), "Up 100 % of the last 24 hours.");
});

test("closed times are cut at the edges of the strip", () => {
  const closed = [
    { from: "2026-11-25T20:00:00Z", to: "2026-11-26T06:00:00Z" },
    { from: "2026-11-24T00:00:00Z", to: "2026-11-24T06:00:00Z" },
  ];
  const found = piecesOf(closed, Date.parse("2026-11-26T00:00:00Z"), Date.parse("2026-11-27T00:00:00Z"));

  assert.deepEqual(found, [{ at: 0, length: 0.25, seconds: 6 * HOUR, key: "2026-11-25T20:00:00Z" }]);
});
