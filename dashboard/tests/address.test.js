import assert from "node:assert/strict";
import test from "node:test";
import { VIEWS, viewOf, withChanges } from "../lib/address.js";

const query = (text) => new URLSearchParams(text);

test("the address names a view; without one, or with another word, it is the fleet", () => {
  for (const view of VIEWS) assert.equal(viewOf(query(`v=${view}`)), view);
  for (const text of ["", "v=", "v=nothing", "v=__proto__"]) assert.equal(viewOf(query(text)), "fleet");
});

test("some keys change and the others stay", () => {
  const before = query("v=logs&q=hall&d=1");

  const after = withChanges(before, { q: "a&b=c", d: null, sort: "-hb", status: "" });

  assert.equal(after.toString(), "v=logs&q=a%26b%3Dc&sort=-hb");
  assert.equal(before.toString(), "v=logs&q=hall&d=1");
});
