import assert from "node:assert/strict";
import test from "node:test";
import { sentencesIn } from "./sentences_in.js";

process.env.TZ = "Europe/Berlin";
const { inWords } = await sentencesIn({ tag: "de-AT", stop: ".", comma: "." });

test("a time is in its zone, in the reader's words", () => {
  const params = { at: "2026-11-29T02:05:00+00:00", time_zone: "America/New_York" };

  assert.match(
    inWords([{ code: "schedule_next", params }]),
    /^Als Nächstes: Samstag, 28\. November 2026.* 21:05 Uhr \(America\/New_York\)\.$/,
  );
});

test("recovery's own reason is German, a person's is as it was given", () => {
  const asked = { action: "restart_app", by: "recovery", reason: "The player crashed.", reason_sentences: null };
  const why = [
    {
      code: "command_sent",
      params: { basis: "crashed", screen: null, action: "restart_app", attempt: 1, attempts: 4 },
    },
  ];
  const words = (params) => inWords([{ code: "command_requested", params }]);

  assert.match(
    words({ ...asked, reason_sentences: why }),
    /^Player-Neustart: angefordert von der Wiederherstellung \(Der Player ist/,
  );
  assert.match(words({ ...asked, by: "user:ada", reason: "Wand" }), /angefordert von ada \(Wand\)$/);
});

test("who did it stands with its article", () => {
  /** @param {string} by */
  const words = (by) => inWords([{ code: "person_did", params: { action: "screenshot.send", by } }]);

  assert.match(words("display:5c0ffee5"), /, vom Display$/);
  assert.match(words("service"), /, vom Server$/);
  assert.match(words("recovery"), /, von der Wiederherstellung$/);
  assert.match(words("user:ada"), /, von ada$/);
});

test("one of many is said in the singular", () => {
  const params = { unproven: 1, sent: 10, excused: 0, limit: "5%", waiting: 1 };

  assert.match(
    inWords([{ code: "too_many_unproven", params }]),
    /^1 von 10 Befehlen endete ohne Nachweis, mehr als 5\u00a0%; 1 wurde nicht gesendet\.$/,
  );
});
