import assert from "node:assert/strict";
import test from "node:test";
import { sentencesIn } from "./sentences_in.js";

process.env.TZ = "Europe/Berlin";
const { inWords } = await sentencesIn({ tag: "de-AT", stop: ".", comma: "." });

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
