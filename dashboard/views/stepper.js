/** Where one command stands: queued → sent → received → running → its end, with the time of each step. */
import { h } from "../vendor/preact.js";
import { now } from "../lib/clock.js";
import { isOver } from "../lib/commands.js";
import { exact, left, person } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { commandWords } from "../lib/words/commands.js";
import { screenshotWords } from "../lib/words/screenshots.js";
import { actionWords, stepWords } from "../lib/words/first.js";
import { Time } from "./parts.js";

/** @typedef {import("../lib/types").Command} Command */

const BAD = new Set(["failed", "rejected", "expired", "timed_out", "cancelled"]);

/** Why a command ended badly, in words. @param {Command} command */
export function causeOf(command) {
  return command.outcome_words ?? "";
}

/** The same of a screenshot. @param {Command} command */
export const pictureCause = (command) =>
  screenshotWords.cause[command.outcome_reason ?? ""] ??
  (causeOf(command) || (stepWords[command.state] ?? command.state));

/**
 * @param {Command} command
 * @returns {[string, string | null][]} each step with its time; null: not there yet, or skipped
 */
function stepsOf(command) {
  const end = isOver(command) ? command.state : "succeeded";
  return [
    ["queued", command.created_at],
    ["sent", command.sent_at],
    ["received", command.received_at],
    ["running", command.running_at],
    [end, command.finished_at],
  ];
}

/** @param {{word: string, at: string | null, here: boolean}} props */
function Step({ word, at, here }) {
  const bad = BAD.has(word);
  return html`<li class=${classes("step", at && "reached", here && "here", bad && at && "bad")}
    aria-current=${here ? "step" : undefined}>
    <span class="step-mark" aria-hidden="true">${at ? (bad ? "✕" : "✓") : ""}</span>
    <span class="step-word">${stepWords[word] ?? word}</span>
    <span class="step-time">${at ? h(Time, { at }) : ""}</span>
  </li>`;
}

/** The deadline that runs now. @param {{command: Command}} props */
function Deadline({ command }) {
  if (isOver(command)) return null;
  const taken = command.state === "received" || command.state === "running";
  const until = taken ? command.result_deadline : command.expires_at;
  if (!until) return null;
  const over = Date.parse(until) <= now.value;
  const text = over
    ? commandWords.waitsForSweep
    : (taken ? commandWords.resultIn : commandWords.expiresIn)({ left: left(until, now.value) });
  return html`<p class="deadline">${text}</p>`;
}

/** @param {{command: Command}} props */
function Outcome({ command }) {
  const confirmed = command.confirmed_by && commandWords.confirmedBy[command.confirmed_by];
  if (command.state === "succeeded") return confirmed ? html`<p class="done">${confirmed}</p>` : null;
  if (!isOver(command)) return null;
  const late =
    command.late_state &&
    command.late_at &&
    commandWords.late({ word: stepWords[command.late_state] ?? command.late_state, time: exact(command.late_at) });
  return html`<p class="cause" role="alert">${causeOf(command)} ${late}</p>`;
}

/** @param {{command: Command}} props */
export function Stepper({ command }) {
  const steps = stepsOf(command);
  return html`<div class="stepper-box">
    <p class="stepper-title"><strong>${actionWords[command.action] ?? command.action}</strong>
      <span class="quiet">${commandWords.by({ who: person(command.requested_by) })}</span></p>
    <ol class="stepper">${steps.map(([word, at]) => h(Step, { key: word, word, at, here: word === command.state }))}
    </ol>
    ${h(Deadline, { command })}${h(Outcome, { command })}
  </div>`;
}
