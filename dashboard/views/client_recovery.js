/** What automatic recovery does about one display, and what it tried. */
import { useEffect, useState } from "../vendor/hooks.js";
import * as api from "../lib/api/recovery.js";
import { now } from "../lib/clock.js";
import { refresh } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { mayOperate } from "../lib/session.js";
import { isMute } from "../lib/unwell.js";
import { displayWords } from "../lib/words/display.js";
import { wordsOf } from "../lib/problems.js";
import { recoveryWords } from "../lib/words/recovery.js";
import { recoveryWhy } from "./attention.js";

/** @typedef {import("../lib/types").Client} Client */
/** @typedef {import("../lib/types").ClientRecovery} ClientRecovery */

const PERIOD = 10_000;

/** @param {string} uuid @param {string} about asked for again when it changes */
function useRecovery(uuid, about) {
  const [told, setTold] = useState(/** @type {ClientRecovery | null} */ (null));
  useEffect(
    () =>
      poll(
        async (abort) => setTold(await api.recoveryOf(uuid, abort)),
        () => PERIOD,
      ).stop,
    [uuid, about],
  );
  return /** @type {const} */ ([told, setTold]);
}

/** @param {Client} client @param {string} state */
const labelOf = (client, state) =>
  state === "verifying" && isMute(client) ? recoveryWords.mute : (recoveryWords.state[state] ?? state);

/** @param {{client: Client}} props */
export function ClientRecoveryBox({ client }) {
  const { uuid } = client;
  const [told, setTold] = useRecovery(uuid, `${client.status} ${client.recovery?.state} ${client.service_failed_at}`);
  const [failed, setFailed] = useState("");
  if (!told || !told.enabled) return null;
  const resume = () =>
    api.resumeRecovery(uuid).then(
      (answer) => {
        setTold(answer);
        setFailed("");
        refresh();
      },
      (error) => setFailed(wordsOf(error)),
    );
  const { restarts, reboots } = told.tried;
  const state = told.recovery ?? client.recovery;
  return html`<section class="recovery-box" aria-label=${displayWords.recovery}>
    <h3>${displayWords.recovery}</h3>
    ${
      state &&
      html`<p><strong>${labelOf(client, state.state)}.
        </strong> ${recoveryWhy({ ...client, recovery: state }, now.value)}</p>`
    }
    ${!state && html`<p class="quiet">${client.last_heartbeat_at ? recoveryWords.well : recoveryWords.never}</p>`}
    ${restarts + reboots > 0 && html`<p class="quiet">${recoveryWords.tried({ restarts_n: restarts, reboots_n: reboots })}</p>`}
    ${
      mayOperate.value &&
      state?.state === "suspended" &&
      html`<div class="buttons"><button class="plain" onClick=${resume}>${recoveryWords.resume}
        </button></div>`
    }
    <p class="form-error" role="alert">${failed}</p>
  </section>`;
}
