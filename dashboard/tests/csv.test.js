import assert from "node:assert/strict";
import test from "node:test";
import { csv } from "../lib/csv.js";

/** How a cell is written. */
const cell = (value) => csv(["head"], [[value]]).slice("\ufeffhead\r\n".length, -"\r\n".length);

test("a mark for spreadsheets, lines that end as RFC 4180 has them", () => {
  assert.equal(
    csv(
      ["a", "b"],
      [
        [1, null],
        ["x", undefined],
      ],
    ),
    "\ufeffa,b\r\n1,\r\nx,\r\n",
  );
});

test("what would end a cell is quoted", () => {
  assert.equal(cell('tv "1", left'), '"tv ""1"", left"');
  assert.equal(cell("two\nlines"), '"two\nlines"');
  assert.equal(cell("semi;colon"), '"semi;colon"');
  assert.equal(cell(" spaced "), '" spaced "');
  assert.equal(cell("plain words"), "plain words");
});

test("no cell is a formula", () => {
  const formulas = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "\u0000=1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
  ];
  for (const formula of formulas) assert.equal(cell(formula), `"'${formula}"`, JSON.stringify(formula));
});

test("numbers stay numbers, below zero too", () => {
  assert.deepEqual([-12.5, "-3", 0, "4.2"].map(cell), ["-12.5", "-3", "0", "4.2"]);
});
