/** One grey line: how much recovery mended today. */
import { useEffect, useState } from "../vendor/hooks.js";
import { mendedSince } from "../lib/api/recovery.js";
import { serverNow } from "../lib/clock.js";
import { shortTime } from "../lib/format.js";
import { html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { causeWords } from "../lib/words/trouble.js";

const PERIOD = 60_000;
const DAY_BEGINS = 6; // hour of the reader's day

/** The last time that it was six o'clock here. */
function morning() {
  const at = new Date(serverNow());
  if (at.getHours() < DAY_BEGINS) at.setDate(at.getDate() - 1);
  at.setHours(DAY_BEGINS, 0, 0, 0);
  return at;
}

export function Mended() {
  const [found, setFound] = useState({ count: 0, since: "" });
  useEffect(
    () =>
      poll(
        async (abort) => setFound(await mendedSince(morning().toISOString(), abort)),
        () => PERIOD,
      ).stop,
    [],
  );
  if (!found.count) return null;
  return html`<p class="quiet mended">${causeWords.mended({ n: found.count, since: shortTime(found.since) })}</p>`;
}
