/** Who may come in, who did what, and how the service is set and doing. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { settings } from "../lib/api/settings.js";
import { classes, html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { byProvider, byProxy, mayAdminister, principal, provider } from "../lib/session.js";
import { allOf, number } from "../lib/format.js";
import { commonWords, frameWords } from "../lib/words/first.js";
import { retryingAfter } from "../lib/problems.js";
import { settingMeanings } from "../lib/words/setting_meanings.js";
import { settingsWords } from "../lib/words/settings.js";
import { Audit } from "./audit.js";
import { LanguageChoice } from "./language_choice.js";
import { lazy } from "./lazy.js";
import { Dialog } from "./dialog.js";
import { Age, LoadFailed, Loading, Time } from "./parts.js";
import { PasswordForm } from "./password.js";
import { Tokens } from "./tokens.js";

/** @typedef {import("../lib/types").Settings} Settings */

const PERIOD = 15_000;
const Notifications = lazy(async () => (await import("./notifications.js")).Notifications);
const OwnSessions = lazy(async () => (await import("./own_sessions.js")).OwnSessions);
const SecondFactorLine = lazy(async () => (await import("./second_factor.js")).SecondFactorLine);
const StatusLinks = lazy(async () => (await import("./status_links.js")).StatusLinks);
const People = lazy(async () => (await import("./people.js")).People);

function useSettings() {
  const [found, setFound] = useState(/** @type {Settings | null} */ (null));
  const [failed, setFailed] = useState("");
  useEffect(() => {
    const look = async (/** @type {AbortSignal} */ abort) => {
      setFound(await settings(abort));
      setFailed("");
    };
    return poll(
      look,
      () => PERIOD,
      (error) => setFailed(retryingAfter(error)),
    ).stop;
  }, []);
  return { found, failed };
}

function Account() {
  const [changing, setChanging] = useState(false);
  const [changed, setChanged] = useState(false);
  const who = principal.value;
  if (!who) return null;
  const close = () => setChanging(false);
  const done = () => {
    close();
    setChanged(true);
  };
  const form = h(PasswordForm, { done });
  const hasPassword = who.kind === "user" && !byProxy.value && !byProvider.value;
  return html`<section class="card settings-card" aria-labelledby="account-title">
    <h2 id="account-title">${settingsWords.account}</h2>
    <p>${settingsWords.signedInAs({ name: who.name, role: frameWords.roles[who.role] ?? who.role })} ${who.sites && frameWords.onlyFor({ sites: allOf(who.sites) })}</p>
    ${
      hasPassword &&
      html`<div class="buttons">
        <button class="plain" onClick=${() => setChanging(true)}>${settingsWords.changePassword}</button></div>`
    }
    <p class="done" role="status">${changed ? settingsWords.passwordChanged : ""}</p>
    ${byProvider.value && html`<p class="quiet">${settingsWords.byProvider({ name: provider.value ?? commonWords.none })}</p>`}
    ${hasPassword && h(SecondFactorLine, {})}
    ${who.kind === "user" && !byProxy.value && h(OwnSessions, {})}
    <div class="settings-form">${h(LanguageChoice, {})}</div>
    ${!mayAdminister.value && html`<p class="quiet">${settingsWords.adminOnly}</p>`}
    ${changing && h(Dialog, { title: settingsWords.changePassword, onClose: close, children: form })}
  </section>`;
}

/** @param {{name: string, children?: any}} props */
function Fact({ name, children }) {
  return html`<div class="fact"><dt>${name}</dt><dd>${children}</dd></div>`;
}

/** @param {{found: Settings}} props */
function Running({ found }) {
  const { scheduler, bridge } = found;
  const took = scheduler.duration_ms !== null && settingsWords.took({ ms: number(scheduler.duration_ms) });
  const tick = html`${h(Age, { at: scheduler.last_tick_at })} <span class="quiet">${took}</span>`;
  const listens = bridge.state === "silent" ? settingsWords.silent : settingsWords.listening;
  return html`<dl class="facts">
    ${h(Fact, { name: `${settingsWords.scheduler}: ${settingsWords.lastTick}`, children: tick })}
    ${h(Fact, { name: settingsWords.bridge, children: listens })}
    ${h(Fact, { name: settingsWords.connectedSince, children: h(Time, { at: bridge.connected_since }) })}
    ${h(Fact, { name: settingsWords.canary, children: h(Age, { at: bridge.canary_at }) })}
  </dl>`;
}

/** A text whose parts between backticks are code. @param {string} text */
const inCode = (text) => text.split("`").map((part, at) => (at % 2 ? html`<code>${part}</code>` : part));

/** @param {unknown} value */
const shown = (value) =>
  value === null || value === "" ? commonWords.none : typeof value === "object" ? JSON.stringify(value) : String(value);

/** @param {{found: Settings}} props */
function Values({ found }) {
  const rows = Object.entries(found.settings);
  return html`<h3>${settingsWords.values}</h3><ul>${rows.map(([name, one]) => {
    const changed = JSON.stringify(one.value) !== JSON.stringify(one.default);
    return html`<li key=${name} class=${classes("setting", changed && "changed")}><code>${name}</code>
      <span class="setting-value figure">
        ${shown(one.value)} ${one.unit} ${
          changed &&
          one.default !== null &&
          html`<span
            class="quiet">(${settingsWords.changed({ value: shown(one.default) })})</span>`
        }</span>
      <span class="setting-meaning quiet">${inCode(settingMeanings[name] ?? one.meaning)}</span></li>`;
  })}</ul>`;
}

function Service() {
  const { found, failed } = useSettings();
  return html`<section class="card settings-card" aria-labelledby="service-title">
    <h2 id="service-title">${settingsWords.service}</h2>
    ${!found && (failed ? h(LoadFailed, { text: settingsWords.failed, why: failed }) : h(Loading, { rows: 4 }))}
    ${found && [h(Running, { found }), h(Values, { found })]}</section>`;
}

export function SettingsPage() {
  const isEverywhere = !principal.value?.sites; // what is about the whole service is for them alone
  return html`<div class="page-head"><h1>${settingsWords.title}</h1></div>
    ${h(Account, {})}
    ${isEverywhere && h(Notifications, {})}
    ${mayAdminister.value && h(StatusLinks, {})}
    ${isEverywhere && mayAdminister.value && [h(People, {}), h(Tokens, {}), h(Audit, {})]}
    ${isEverywhere && h(Service, {})}`;
}
