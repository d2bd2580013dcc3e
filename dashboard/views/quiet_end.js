/** The button that ends a quiet time. One that is about several displays asks first. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { endQuietTime } from "../lib/api/quiet_times.js";
import { refresh } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { wordsOf } from "../lib/problems.js";
import { quietEndWords, quietTimesWords } from "../lib/words/quiet_times.js";
import { FormDialog } from "./form_dialog.js";

/**
 * @param {{id: number, covers: number | null, label: string, name: string, look?: string, done: () => void}} props
 *   covers: how many displays it is about; label: what the button is, for those who do not see its row; name: the question
 */
export function EndQuiet({ id, covers, label, name, look = "plain", done }) {
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState("");
  const ended = () => {
    setAsking(false);
    setFailed("");
    refresh();
    done();
  };
  const press = () =>
    covers === null || covers > 1
      ? setAsking(true)
      : endQuietTime(id).then(ended, (error) => setFailed(wordsOf(error)));
  const children = html`<p><strong>${name}</strong></p>${covers !== null && html`<p>${covers ? quietEndWords.text({ n: covers }) : quietEndWords.none}</p>`}`;
  return html`<button class=${look} aria-label=${label} onClick=${press}>${quietTimesWords.end}</button>
    ${failed && html`<span class="cause" role="alert">${failed}</span>`}
    ${
      asking &&
      h(FormDialog, {
        title: quietEndWords.title,
        go: quietEndWords.go,
        act: () => endQuietTime(id),
        done: ended,
        close: () => setAsking(false),
        children,
      })
    }`;
}
