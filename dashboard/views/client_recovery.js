/** What automatic recovery does about one display, what it tried, and what an operator may tell it. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import * as api from "../lib/api/recovery.js";
import { now, serverNow } from "../lib/clock.js";
import { refresh } from "../lib/fleet.js";
import { person } from "../lib/format.js";
import { html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { mayOperate } from "../lib/session.js";
import { commonWords } from "../lib/words/common.js";
import { displayWords } from "../lib/words/display.js";
import { wordsOf } from "../lib/words/problems.js";
import { recoveryWords } from "../lib/words/recovery.js";
import { isMute, recoveryWhy } from "./attention.js";
import { Dialog, Time } from "./parts.js";

/** @typedef {import("../lib/types").Client} Client */
/** @typedef {import("../lib/types").ClientRecovery} ClientRecovery */
/** @typedef {"hold" | "exclude"} Question */

const PERIOD = 10_000;
const HOUR = 3_600_000;

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

/**
 * @param {{question: Question, name: string, go: (reason: string, hours: number) => Promise<void>, close: () => void}}
 *   props
 */
function Ask({ question, name, go, close }) {
  const words = recoveryWords.ask[question];
  const [failed, setFailed] = useState("");
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    go(String(form.get("reason")).trim(), Number(form.get("hours") ?? 0)).then(close, (error) =>
      setFailed(wordsOf(error)),
    );
  };
  const body = html`<form class="connect" onSubmit=${submit}><p><strong>${name}</strong></p><p>${words.text}</p>
    <label>${recoveryWords.reason}<input name="reason" required maxlength="500" autocomplete="off" autofocus /></label>
    ${
      question === "hold" &&
      html`<label>${recoveryWords.howLong}
        <select name="hours">${recoveryWords.lengths.map(
          ([hours, word]) => html`<option key=${hours} value=${hours}>${word}
          </option>`,
        )}</select></label>`
    }
    <p class="form-error" role="alert">${failed}</p>
    <div class="dialog-foot"><button type="button" class="plain" onClick=${close}>${commonWords.cancel}</button>
      <button class="primary">${words.go}</button></div></form>`;
  return h(Dialog, { title: words.title, onClose: close, children: body });
}

/** What stands in recovery's way because a person said so. @param {{told: ClientRecovery}} props */
function Said({ told }) {
  const { hold, exclusion } = told;
  return html`${
    hold &&
    html`<p>${recoveryWords.heldBy(person(hold.by), hold.reason)}
      ${hold.until && html` ${recoveryWords.until} ${h(Time, { at: hold.until })}`}</p>`
  }
    ${
      exclusion &&
      html`<p>${recoveryWords.excludedBy(person(exclusion.excluded_by), exclusion.reason, exclusion.site)}
      </p>`
    }`;
}

/** @typedef {{ask: (question: Question) => void, tell: (call: Promise<ClientRecovery>) => void}} Acts */

/** @param {{client: Client, told: ClientRecovery} & Acts} props */
function Buttons({ client, told, ask, tell }) {
  if (!mayOperate.value) return null;
  const { uuid } = client;
  const stopped = told.hold !== null || told.recovery?.state === "suspended";
  const own = told.exclusion !== null && told.exclusion.site === null;
  return html`<div class="buttons">
    ${
      stopped &&
      html`<button class="plain" onClick=${() => tell(api.resumeRecovery(uuid))}>${recoveryWords.resume}
      </button>`
    }
    ${!told.hold && html`<button class="plain" onClick=${() => ask("hold")}>${recoveryWords.hold}</button>`}
    ${
      own &&
      html`<button class="plain" onClick=${() => tell(api.includeInRecovery(uuid))}>${recoveryWords.include}
      </button>`
    }
    ${!told.exclusion && html`<button class="plain" onClick=${() => ask("exclude")}>${recoveryWords.exclude}</button>`}
  </div>`;
}

/** @param {Client} client @param {string} state */
const labelOf = (client, state) =>
  state === "verifying" && isMute(client) ? recoveryWords.mute : (recoveryWords.state[state] ?? state);

/** @param {{client: Client, name: string}} props */
export function ClientRecoveryBox({ client, name }) {
  const { uuid } = client;
  const [told, setTold] = useRecovery(uuid, `${client.status} ${client.recovery?.state} ${client.service_failed_at}`);
  const [question, setQuestion] = useState(/** @type {Question | null} */ (null));
  const [failed, setFailed] = useState("");
  if (!told || !told.enabled) return null;
  /** @param {Promise<ClientRecovery>} call */
  const take = async (call) => {
    setTold(await call);
    refresh();
  };
  /** @param {Promise<ClientRecovery>} call */
  const tell = (call) =>
    take(call).then(
      () => setFailed(""),
      (error) => setFailed(wordsOf(error)),
    );
  /** @param {string} reason @param {number} hours */
  const go = (reason, hours) => {
    const until = hours ? new Date(serverNow() + hours * HOUR).toISOString() : null;
    return take(question === "hold" ? api.holdRecovery(uuid, reason, until) : api.excludeFromRecovery(uuid, reason));
  };
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
    ${restarts + reboots > 0 && html`<p class="quiet">${recoveryWords.tried(restarts, reboots)}</p>`}
    ${h(Said, { told })}
    ${h(Buttons, { client, told, ask: setQuestion, tell })}
    <p class="form-error" role="alert">${failed}</p>
    ${question && h(Ask, { question, name, go, close: () => setQuestion(null) })}
  </section>`;
}
