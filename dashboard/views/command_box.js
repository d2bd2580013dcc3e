/** Restart, reboot, shut down, switch the screen: the buttons, why one cannot be pressed, and what became of the last one. */
import { h } from "../vendor/preact.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { now } from "../lib/clock.js";
import { dismiss, followLatest, followOther, isOver, order, orderOf, withdraw } from "../lib/commands.js";
import { updating } from "../lib/fleet.js";
import { exact, left } from "../lib/format.js";
import { html } from "../lib/html.js";
import { quietTimes } from "../lib/quiet.js";
import { mayAdminister, mayOperate } from "../lib/session.js";
import { commandWords } from "../lib/words/commands.js";
import { actionWords, commonWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { cutWords, indexed, isAtWork, quietFor } from "../lib/quiet_now.js";
import { EndAnyway } from "./end_command.js";
import { Dialog } from "./dialog.js";
import { Stepper } from "./stepper.js";

/** @typedef {import("../lib/types").Action} Action */
/** @typedef {import("../lib/types").Client} Client */
/** @typedef {import("../lib/commands.js").Order} Order */

/** @type {Action[]} */
const ACTIONS = ["restart_app", "reboot_host", "shutdown_host"];
/** @type {Action[]} */
const OF_SCREEN = ["screen_on", "screen_off"]; // shown for a display that declares them

const LOCKED = new Set(["restart_app", "reboot_host"]);

/** A display that declares nothing can do ACTIONS. @param {Client} client @param {Action} action */
const isAble = (client, action) => action in actionWords && (client.capabilities ?? ACTIONS).includes(action);

/** @param {Client} client */
const lockedUntil = (client) =>
  client.lockout_until && Date.parse(client.lockout_until) > now.value ? client.lockout_until : null;

/** Whether this page waits for it. @param {Order | undefined} current */
const isAwaited = (current) =>
  current !== undefined &&
  (current.phase === "sending" ||
    current.phase === "unknown" ||
    (current.command !== null && !isOver(current.command)));

/** @param {Order | undefined} current @param {Client} client */
const isBusy = (current, client) => Boolean(client.open_command) || isAwaited(current);

/**
 * Why a button cannot be pressed, or null.
 * @param {Action} action @param {Client} client @param {Order | undefined} current
 */
export function blocked(action, client, current) {
  if (!mayOperate.value) return commandWords.viewer;
  if (action === "shutdown_host" && !mayAdminister.value) return commandWords.adminOnly;
  if (!updating.value) return commonWords.outOfDate;
  if (!isAble(client, action)) return commandWords.notCapable;
  if (action === "screenshot" ? isAwaited(current) : isBusy(current, client)) return commandWords.open;
  const until = LOCKED.has(action) ? lockedUntil(client) : null;
  return until && commandWords.locked({ time: exact(until), left: left(until, now.value) });
}

/** @param {{action: Action, client: Client, current: Order | undefined, press: (action: Action) => void}} props */
function Button({ action, client, current, press }) {
  const why = blocked(action, client, current);
  const look = action === "shutdown_host" ? "danger" : "plain";
  return html`<button class=${look} disabled=${why !== null} title=${why ?? ""} onClick=${() => press(action)}>
    ${actionWords[action]}</button>`;
}

/** @param {{action: Action, name: string, cuts: string, go: () => void, close: () => void}} props cuts: what it goes through */
function Confirm({ action, name, cuts, go, close }) {
  const words = commandWords.confirm[action] ?? commandWords.confirmThrough;
  const body = html`<p><strong>${name}</strong></p><p>${words.text}</p>
    ${cuts && html`<p class="consequence">${cuts}</p>`}
    <div class="dialog-foot">
      <button class="plain" onClick=${close} autofocus>${commonWords.cancel}</button>
      <button class="danger" onClick=${go}>${words.go}</button>
    </div>`;
  return h(Dialog, { title: words.title, onClose: close, children: body });
}

/** What the service said no with. @param {{current: Order}} props */
function Refusal({ current }) {
  const problem = current.problem?.problem;
  if (!problem) return null;
  const until = problem.lockout_until;
  const text = until
    ? commandWords.locked({ time: exact(until), left: left(until, now.value) })
    : wordsOf(current.problem);
  return html`<p class="cause" role="alert">${text}</p>`;
}

/** Whether somebody may have the open command, so that it cannot be withdrawn. @param {Order} current */
const isOut = ({ command, problem }) =>
  command !== null && !isOver(command) && (command.state !== "queued" || problem !== null);

/**
 * @param {{uuid: string, name: string, current: Order, why: string | null, again: () => void}} props why: it cannot be
 *   sent again now
 */
function Progress({ uuid, name, current, why, again }) {
  const { phase, command } = current;
  const over = command !== null && isOver(command);
  const bad = phase === "lost" || (over && command.state !== "succeeded");
  return html`<div class="order">
    ${phase === "sending" && html`<p role="status">${commandWords.sending}</p>`}
    ${phase === "unknown" && html`<p class="cause" role="status">${commandWords.unknown}</p>`}
    ${phase === "lost" && html`<p class="cause" role="alert">${commandWords.unreachable}</p>`}
    ${current.cuts && html`<p class="quiet">${current.cuts}</p>`}
    ${command && h(Stepper, { command })}
    ${h(Refusal, { current })}
    <div class="order-foot">
      ${
        bad &&
        html`<button class="plain" disabled=${why !== null} title=${why ?? ""} onClick=${again}>
          ${commandWords.again}</button>`
      }
      ${
        command?.state === "queued" &&
        mayOperate.value &&
        html`<button class="plain" onClick=${() => withdraw(uuid)}>
          ${commandWords.withdraw}</button>`
      }
      ${isOut(current) && h(EndAnyway, { uuid, name })}
      ${
        (over || phase === "refused" || phase === "lost") &&
        html`<button class="link" onClick=${() => dismiss(uuid)}>
          ${commonWords.dismiss}</button>`
      }
    </div>
  </div>`;
}

/** @param {{client: Client}} props */
function Lock({ client }) {
  const until = lockedUntil(client);
  return until
    ? html`<p class="lock" role="status">${commandWords.locked({ time: exact(until), left: left(until, now.value) })}</p>`
    : null;
}

/** @param {{client: Client, name: string}} props */
export function CommandBox({ client, name }) {
  const [asking, setAsking] = useState(/** @type {Action | null} */ (null));
  const { uuid } = client;
  const current = orderOf(uuid);
  const openId = client.open_command?.id;
  const lock = client.lockout_until;
  const lockBefore = useRef(lock);
  useEffect(() => {
    if (openId) followOther(uuid, openId);
    else if (lock && lock !== lockBefore.current) followLatest(uuid); // a lock is raised by a command
    lockBefore.current = lock;
  }, [uuid, openId, lock]);
  const actions = [...ACTIONS, ...OF_SCREEN.filter((action) => client.capabilities?.includes(action))];
  const quiet = quietFor(indexed(quietTimes.value), client);
  /** @param {Action} action */
  const press = (action) =>
    commandWords.confirm[action] || quiet.some(isAtWork) ? setAsking(action) : order(uuid, action);
  const go = () => {
    if (asking) order(uuid, asking);
    setAsking(null);
  };
  return html`<section class="command-box" aria-label=${commandWords.title}>
    <div class="buttons">${actions.map((action) => h(Button, { key: action, action, client, current, press }))}</div>
    ${!isBusy(current, client) && h(Lock, { client })}
    ${
      current &&
      h(Progress, {
        uuid,
        name,
        current,
        why: blocked(current.action, client, current),
        again: () => press(current.action),
      })
    }
    ${asking && h(Confirm, { action: asking, name, cuts: cutWords(quiet), go, close: () => setAsking(null) })}
  </section>`;
}
