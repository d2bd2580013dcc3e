import assert from "node:assert/strict";
import test from "node:test";
import { sentencesIn } from "./sentences_in.js";

const { inWords } = await sentencesIn({ tag: "ja-JP", stop: "。", comma: "," });

test("no space stands between two sentences", () => {
  const known = { code: "receiver_forbidden", params: {} };

  assert.doesNotMatch(inWords([known, known]), /。\s/);
});
