import assert from "node:assert/strict";
import test from "node:test";
import { sentencesIn } from "./sentences_in.js";

const { inWords } = await sentencesIn({ tag: "ja-JP", stop: "。", comma: "," });

test("a time is in its zone, in the reader's words", () => {
  const params = { at: "2026-11-29T02:05:00+00:00", time_zone: "America/New_York" };

  assert.match(
    inWords([{ code: "schedule_done", params }]),
    /^2026年11月28日土曜日 21:05（America\/New_York）に実行しました。$/,
  );
});

test("no space stands between two sentences", () => {
  const known = { code: "receiver_forbidden", params: {} };

  assert.doesNotMatch(inWords([known, known]), /。\s/);
});
