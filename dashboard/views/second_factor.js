/** The code of an app besides one's password: set up, see that it is on, remove. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import * as api from "../lib/api/account.js";
import { html } from "../lib/html.js";
import { mustSetUpSecondFactor } from "../lib/session.js";
import { wordsOf } from "../lib/problems.js";
import { secondFactorWords } from "../lib/words/second_factor.js";
import { CopyButton } from "./copy_button.js";
import { FormDialog } from "./form_dialog.js";
import { Dialog } from "./dialog.js";
import { Time } from "./parts.js";
import { Qr } from "./qr.js";

/** @typedef {import("../lib/openapi").SecondFactor} SecondFactor */
/** @typedef {import("../lib/openapi").Secret} Secret */

/** @param {{current: string}} props */
export const CodeField = ({
  current,
}) => html`<label>${secondFactorWords.code}<input name="code" class="figure" autocomplete="one-time-code"
      autocapitalize="none" spellcheck=${false} required autofocus aria-describedby="code-how" /></label>
  <p class="quiet" id="code-how">${current}</p>`;

const PasswordField = () =>
  html`<label>${secondFactorWords.password}<input name="current" type="password" autocomplete="current-password"
      required autofocus /></label>`;

/** @param {FormData} form @param {string} name */
const text = (form, name) => String(form.get(name) ?? "").trim();

/**
 * 1. the password, 2. the app and its first code, 3. the codes for a lost phone.
 * @param {{close: () => void, done: () => void}} props
 */
function SetUp({ close, done }) {
  const [secret, setSecret] = useState(/** @type {Secret | null} */ (null));
  const [codes, setCodes] = useState(/** @type {string[] | null} */ (null));
  if (codes) return h(Codes, { codes, done });
  if (!secret) {
    const begin = (/** @type {FormData} */ form) => api.beginSecondFactor(String(form.get("current")));
    return h(FormDialog, {
      key: "begin",
      title: secondFactorWords.setUp,
      go: secondFactorWords.next,
      act: begin,
      done: setSecret,
      close,
      children: [html`<p class="quiet">${secondFactorWords.what}</p>`, h(PasswordField, {})],
    });
  }
  const confirm = (/** @type {FormData} */ form) => api.confirmSecondFactor(text(form, "code"));
  const children = html`<div class="qr-row">${h(Qr, { text: secret.otpauth_url, label: secondFactorWords.qr })}
      <div><p>${secondFactorWords.scan}</p>
        <p class="quiet">${secondFactorWords.typed}</p>
        <span class="code"><code>${secret.secret}</code>
          ${h(CopyButton, { text: secret.secret, label: secondFactorWords.copySecret })}</span></div></div>
    ${h(CodeField, { current: secondFactorWords.first })}`;
  return h(FormDialog, {
    key: "confirm",
    title: secondFactorWords.setUp,
    go: secondFactorWords.confirm,
    act: confirm,
    done: (answer) => setCodes(answer.recovery_codes),
    close,
    children,
  });
}

/** Only its own button closes it. @param {{codes: string[], done: () => void}} props */
function Codes({ codes, done }) {
  const body = html`<div class="issued"><strong>${secondFactorWords.once}</strong>
      <ul class="recovery-codes">${codes.map((code) => html`<li key=${code}><code>${code}</code></li>`)}</ul>
      ${h(CopyButton, { text: codes.join("\n"), label: secondFactorWords.copyCodes })}</div>
    <p class="quiet">${secondFactorWords.keep}</p>
    <div class="dialog-foot"><button class="primary" onClick=${done} autofocus>${secondFactorWords.kept}</button>
    </div>`;
  return h(Dialog, { title: secondFactorWords.codes, children: body });
}

/** @param {{close: () => void, done: () => void}} props */
function Remove({ close, done }) {
  const act = (/** @type {FormData} */ form) => api.removeSecondFactor(String(form.get("current")), text(form, "code"));
  const children = [
    html`<p class="quiet">${secondFactorWords.removeText}</p>`,
    h(PasswordField, {}),
    h(CodeField, { current: secondFactorWords.either }),
  ];
  return h(FormDialog, {
    title: secondFactorWords.removeTitle,
    go: secondFactorWords.removeGo,
    look: "danger",
    act,
    done,
    close,
    children,
  });
}

/** In the account's card. */
export function SecondFactorLine() {
  const [state, setState] = useState(/** @type {SecondFactor | null} */ (null));
  const [failed, setFailed] = useState("");
  const [doing, setDoing] = useState(/** @type {"set up" | "remove" | null} */ (null));
  const look = () => void api.secondFactor().then(setState, (error) => setFailed(wordsOf(error)));
  useEffect(look, []);
  const done = () => {
    setDoing(null);
    look();
  };
  const close = () => setDoing(null);
  if (!state) return html`<p class="form-error" role="alert">${failed}</p>`;
  const { since, recovery_codes_left: left } = state;
  return html`<h3>${secondFactorWords.title}</h3>
    <p>${since && html`${secondFactorWords.on} ${h(Time, { at: since })}. ${secondFactorWords.left({ n: left })}`}
      ${!since && secondFactorWords.off}</p>
    <div class="buttons"><button class="plain" onClick=${() => setDoing(since ? "remove" : "set up")}>
        ${since ? secondFactorWords.remove : secondFactorWords.begin}</button></div>
    ${doing === "set up" && h(SetUp, { close, done })}
    ${doing === "remove" && h(Remove, { close, done })}`;
}

/** Instead of everything else, where it has to be set up first. */
export function SecondFactorPage() {
  const [doing, setDoing] = useState(false);
  return html`<main class="sign-in-page" id="main">
    <div class="sign-in-card">
      <h1>${secondFactorWords.pageTitle}</h1>
      <p class="quiet">${secondFactorWords.why}</p>
      <button class="primary" onClick=${() => setDoing(true)}>${secondFactorWords.begin}</button>
      ${doing && h(SetUp, { close: () => setDoing(false), done: () => (mustSetUpSecondFactor.value = false) })}
    </div>
  </main>`;
}
