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
  const known = { code: "failed_again", params: {} };

  assert.doesNotMatch(inWords([known, known]), /\s/);
});

test("no space stands beside a number", () => {
  const failed = { kind: "site", key: "Berlin", size: 40, sites: 1, unit: null, place: null };
  const text = inWords([{ code: "failed_together", params: { ...failed, symptoms: { silent: 12 }, seconds: 120 } }]);

  assert.match(text, /^拠点 Berlin の40台中12台が2分以内に応答しなくなりました。/);
});
