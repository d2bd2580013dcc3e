import assert from "node:assert/strict";
import test from "node:test";
import { plain } from "../lib/plain.js";

test("what hides or turns round other text is shown as a sign", () => {
  assert.equal(plain("invoice\u202egpj.exe"), "invoice‹U+202E›gpj.exe");
  assert.equal(plain("\u001b[31mred\u001b[0m\u0007"), "␛[31mred␛[0m␇");
  assert.equal(plain("\u0000\u007f\u0085\u2028\u2066"), "␀␡‹U+0085›‹U+2028›‹U+2066›");
  assert.equal(plain("a\rb"), "a␍b");
});

test("what people write stays", () => {
  for (const text of ["tab\there", "two\nlines", "two\r\nlines", "שלום\u200f!", "Ärger ✓ 日本", ""])
    assert.equal(plain(text), text);
});
