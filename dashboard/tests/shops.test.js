import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { dotGrid, shopsOf } from "../lib/shops.js";
import { tagsOf } from "../lib/tags.js";

/** A display that runs, but for what is said of it. */
const display = (site, of = {}) => ({ site, status: "running", service_failed_at: null, tags: [], ...of });
const many = (count, ...what) => Array.from({ length: count }, () => display(...what));

test("the site with the largest share and number of unwell displays stands first, then by name; displays without a site are one more", () => {
  const fleet = [
    ...many(2, "Shop 10"),
    ...many(2, "Shop 9"),
    ...many(3, "Bern", { status: "stale" }),
    display("Bern"),
    display("Chur", { service_failed_at: "2026-11-21T12:00:00Z" }),
    display("Shop 9", { service_failed_at: "2026-11-21T12:00:00Z", service_mended_at: "2026-11-21T12:02:00Z" }),
    ...many(2, null),
    display(""),
  ];

  const shops = shopsOf(fleet);

  assert.deepEqual(
    shops.map(({ site, total, unwell, how }) => [site, total, unwell, how]),
    [
      ["Bern", 4, 3, "stale"],
      ["Chur", 1, 1, "bad"],
      ["Shop 9", 3, 0, ""],
      ["Shop 10", 2, 0, ""],
      [null, 3, 0, ""],
    ],
  );
});

test("dots stand worst first, and a failed service of a running display is none that is well", () => {
  const fleet = [
    display("Bern"),
    display("Bern", { status: "late" }),
    display("Bern", { screen_failed_since: "2026-11-21T12:00:00Z" }),
    display("Bern", { status: "stale", service_failed_at: "2026-11-21T12:00:00Z" }),
  ];

  const [bern] = shopsOf(fleet);

  assert.deepEqual(
    bern.dots.map(({ dot, count }) => [dot, count]),
    [
      ["stale", 1],
      ["bad", 1],
      ["late", 1],
      ["running", 1],
    ],
  );
});

test("dots fill rows, and where there is no place for all the worst are drawn", () => {
  const dots = [
    { dot: "stale", count: 2 },
    { dot: "running", count: 9 },
  ];

  assert.deepEqual(dotGrid(dots, 5, 3), [
    {
      dot: "stale",
      places: [
        [0, 0],
        [1, 0],
      ],
    },
    {
      dot: "running",
      places: [
        [2, 0],
        [0, 1],
        [1, 1],
      ],
    },
  ]);
  assert.deepEqual(
    dotGrid(dots, 2, 3).map(({ dot }) => dot),
    ["stale"],
  );
});

test("tags stand with their counts, the most frequent first", () => {
  const fleet = [
    display("a", { tags: ["menu", "4k"] }),
    display("b", { tags: ["menu"] }),
    display("c", { tags: null }),
  ];

  assert.deepEqual(tagsOf(fleet), [
    ["menu", 2],
    ["4k", 1],
  ]);
});

test("the places of a large fleet stand as its displays would, without any of them", () => {
  const states = (/** @type {Record<string, number>} */ of) => ({ site: null, total: 0, unwell: 0, states: of });
  const places = new Map([
    ["well", states({ running: 2, late: 1 })],
    [null, states({ running: 1 })],
    ["worse", states({ running: 7, bad: 1, crashed: 2 })],
    ["silent", states({ stale: 1 })],
  ]);

  assert.deepEqual(
    shopsOf([], places).map(({ site, total, unwell, how }) => [site, total, unwell, how]),
    [
      ["silent", 1, 1, "stale"],
      ["worse", 10, 3, "bad"],
      ["well", 3, 0, ""],
      [null, 1, 0, ""],
    ],
  );
});
