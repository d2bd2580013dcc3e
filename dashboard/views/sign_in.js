/** The sign-in form: the whole page at first, a dialog over the kept page when a session ends. */
import { h } from "../vendor/preact.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { ApiProblem } from "../lib/api/call.js";
import { now, serverNow } from "../lib/clock.js";
import { left } from "../lib/format.js";
import { html } from "../lib/html.js";
import { providerReason, signInAtProvider } from "../lib/provider.js";
import { byProxy, provider } from "../lib/session.js";
import { endedElsewhere, signIn } from "../lib/sign_in.js";
import { commonWords, frameWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { sessionWords } from "../lib/words/session.js";
import { Dialog } from "./dialog.js";
import { LanguageChoice } from "./language_choice.js";

/** How long nobody may try, when the service does not say: in seconds. */
const WAIT_UNSAID = 30;

/** @param {unknown} error @returns {{text: string, until: string | null}} one text for whatever was wrong */
function outcome(error) {
  if (error instanceof ApiProblem && error.status === 429 && error.code !== "too_many_requests") {
    const wait = error.retryAfter ?? WAIT_UNSAID;
    return { text: "", until: new Date(serverNow() + wait * 1000).toISOString() };
  }
  if (error instanceof ApiProblem && error.code === "second_factor_wrong")
    return { text: sessionWords.codeWrong, until: null };
  const isWrong = error instanceof ApiProblem && error.status < 500 && error.status !== 429;
  return { text: isWrong ? sessionWords.wrong : wordsOf(error), until: null };
}

/** The countdown is a component of its own: only it ticks. @param {{until: string, over: () => void}} props */
function Wait({ until, over }) {
  const done = Date.parse(until) <= now.value;
  useEffect(() => {
    if (done) over();
  }, [done]);
  return html`${sessionWords.wait({ left: left(until, now.value) })}`;
}

/** The reason of a code. @param {string} code */
const reasonOf = (code) => sessionWords.reasons[code] ?? sessionWords.someReason;

/**
 * The button of the sign-in service, where there is one.
 * @param {{busy: boolean, begin: () => void}} props
 */
function AtProvider({ busy, begin }) {
  const name = provider.value;
  return html`${
    name &&
    html`<p class="quiet">${sessionWords.or}</p>
      <button type="button" class="plain" disabled=${busy} onClick=${begin}>${sessionWords.goTo({ name })}</button>`
  }`;
}

export function SignInForm() {
  const [busy, setBusy] = useState(false);
  const refused = providerReason.value ? { text: reasonOf(providerReason.value), until: null } : null;
  const [failed, setFailed] = useState(/** @type {{text: string, until: string | null} | null} */ (refused));
  const [asksCode, setAsksCode] = useState(false);
  const [shown, setShown] = useState(false);
  const code = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    if (asksCode) code.current?.focus();
  }, [asksCode]);

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setBusy(true);
    setFailed(null);
    try {
      await signIn(String(form.get("username")), String(form.get("password")), String(form.get("code") ?? "").trim());
    } catch (error) {
      const asked = error instanceof ApiProblem && error.code === "second_factor_required";
      setAsksCode((before) => before || asked);
      setFailed(asked ? null : outcome(error));
      setBusy(false);
    }
  }

  async function begin() {
    setBusy(true);
    setFailed(null);
    try {
      await signInAtProvider();
    } catch (error) {
      setFailed({ text: wordsOf(error), until: null });
      setBusy(false);
    }
  }

  const locked = Boolean(failed?.until);
  return html`<form class="sign-in" onSubmit=${submit}>
    <label>${sessionWords.user}<input name="username" autocomplete="username" autocapitalize="none" spellcheck=${false}
        required autofocus /></label>
    <label>${sessionWords.password}<input name="password" type=${shown ? "text" : "password"} autocomplete="current-password"
        autocapitalize="none" spellcheck=${false} required /></label>
    <label class="check"><input type="checkbox" checked=${shown} onChange=${() => setShown(!shown)} />
      ${sessionWords.show}</label>
    ${
      asksCode &&
      html`<label>${sessionWords.code}<input ref=${code} name="code" class="figure" autocomplete="one-time-code"
            autocapitalize="none" spellcheck=${false} required aria-describedby="code-how" /></label>
        <p class="quiet" id="code-how">${sessionWords.codeHow}</p>`
    }
    <p class="form-error" role="alert">
      ${failed && (failed.until ? h(Wait, { until: failed.until, over: () => setFailed(null) }) : failed.text)}
    </p>
    <button class="primary" disabled=${busy || locked}>${busy ? sessionWords.going : sessionWords.go}</button>
    ${h(AtProvider, { busy, begin })}
  </form>`;
}

export function SignInPage() {
  const [elsewhere] = useState(endedElsewhere);
  return html`<main class="sign-in-page" id="main">
    <div class="sign-in-card">
      <h1><img src="icon.svg" alt="" width="40" height="40" />${frameWords.product}</h1>
      ${elsewhere && html`<p class="quiet" role="status">${sessionWords.endedElsewhere}</p>`}
      ${h(SignInForm, {})}
      ${h(LanguageChoice, {})}
    </div>
  </main>`;
}

export function SignInDialog() {
  const again = html`<p class="quiet">${sessionWords.byProxy}</p>
    <button class="primary" onClick=${() => location.reload()}>${commonWords.reload}</button>`;
  const body = byProxy.value ? again : html`<p class="quiet">${sessionWords.againWhy}</p>${h(SignInForm, {})}`;
  return h(Dialog, { title: sessionWords.again, children: body });
}
