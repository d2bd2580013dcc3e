import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { duration, percentOf, share, size } from "../lib/measures.js";

test("a length of time has its two largest units", () => {
  const lengths = [0, 0.4, 59, 60, 200, 3600, 3661, 86_399, 187_200, 86_405];

  assert.deepEqual(lengths.map(duration), [
    "1 s",
    "1 s",
    "59 s",
    "1 min",
    "3 min 20 s",
    "1 h",
    "1 h 1 min",
    "23 h 59 min",
    "2 d 4 h",
    "1 d",
  ]);
});

test("a share never rounds up to all", () => {
  assert.deepEqual([1, 0.99996, 0.5, 0.0004, 0].map(percentOf), ["100 %", "99.9 %", "50 %", "0 %", "0 %"]);
});

test("sizes count in thousands", () => {
  assert.deepEqual([999, 1000, 1550, 200_000_000].map(size), ["999 B", "1 kB", "1.6 kB", "200 MB"]);
});

test("how far an upload is", () => {
  assert.deepEqual([0, 0.504, 1].map(share), ["0%", "50%", "100%"]);
});
