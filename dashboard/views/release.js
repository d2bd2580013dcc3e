/** The question before a breaker is released, and the way back. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { releaseBreaker } from "../lib/api/fleet.js";
import { overview, refresh, total } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { principal } from "../lib/session.js";
import { commonWords } from "../lib/words/first.js";
import { releaseWords } from "../lib/words/release.js";
import { Dialog } from "./dialog.js";
import { FormDialog } from "./form_dialog.js";
import { lazy } from "./lazy.js";

const QuietDialog = lazy(async () => (await import("./quiet_form.js")).QuietDialog, { bare: true });

/** How many commands of recovery may be open at once, as `shared/recovery/rules.py` says. @param {number} fleet */
const mostAtOnce = (fleet) => (fleet < 10 ? 1 : Math.max(10, Math.floor(fleet * 0.02) - 10));

/** Who sees chosen sites does not see the size of the fleet; of several sites each is held by itself, elsewhere.
 * @param {{sites: string[] | null, n: number, close: () => void}} props sites: null, all; n: displays that are held back */
export function ReleaseDialog({ sites, n, close }) {
  const [step, setStep] = useState(/** @type {"ask" | "done" | "hold"} */ ("ask"));
  const [site, another] = sites ?? [];
  if (step === "hold") {
    const whom = site ? { scope: "site", site } : { scope: "fleet" };
    return h(QuietDialog, { preset: "hold", whom, close, done: close });
  }
  if (step === "done") {
    const children = html`<p role="status">${releaseWords.done}</p>
      <div class="dialog-foot">${another === undefined && html`<button class="plain" onClick=${() => setStep("hold")}>${releaseWords.hold}</button>`}
        <button class="primary" onClick=${close}>${commonWords.close}</button></div>`;
    return h(Dialog, { title: releaseWords.title, onClose: close, children });
  }
  const most = principal.value?.sites ? n : Math.min(n, mostAtOnce(overview.value?.counts.total ?? total.value));
  return h(FormDialog, {
    title: releaseWords.title,
    go: releaseWords.go,
    act: () => releaseBreaker(sites),
    done: () => {
      setStep("done");
      refresh();
    },
    close,
    children: html`<p>${releaseWords.ask({ n, most_n: most })}</p><p class="quiet">${releaseWords.later}</p>`,
  });
}
