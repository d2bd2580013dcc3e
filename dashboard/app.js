/** The page: who is here, the frame around every view, and the view that the address names. */
import { h, render } from "./vendor/preact.js";
import { useEffect, useState } from "./vendor/hooks.js";
import { signInNeeded } from "./lib/api/call.js";
import { VIEWS } from "./lib/address.js";
import { startTicking } from "./lib/clock.js";
import { updatedAt, updating, watchFleet } from "./lib/fleet.js";
import { allOf, exact, zoneName } from "./lib/format.js";
import { classes, html } from "./lib/html.js";
import { helpOpen } from "./lib/keys.js";
import { language, wordsLoaded } from "./lib/language.js";
import { byProxy, mustChangePassword, mustSetUpSecondFactor, principal, recall, signOut } from "./lib/session.js";
import { troubles } from "./lib/troubles.js";
import { goToView, param, view } from "./lib/url.js";
import { frameWords } from "./lib/words/first.js";
import { wordsOf } from "./lib/problems.js";
import { FleetPage } from "./views/fleet.js";
import { lazy } from "./views/lazy.js";
import { LoadFailed, Loading } from "./views/parts.js";

const PAGES = {
  fleet: FleetPage,
  incidents: lazy(async () => (await import("./views/incidents.js")).IncidentsPage),
  quiet: lazy(async () => (await import("./views/quiet_times.js")).QuietTimesPage),
  availability: lazy(async () => (await import("./views/availability.js")).AvailabilityPage),
  batches: lazy(async () => (await import("./views/batches.js")).BatchesPage),
  logs: lazy(async () => (await import("./views/logs.js")).LogsPage),
  conversions: lazy(async () => (await import("./views/conversions.js")).ConversionsPage),
  settings: lazy(async () => (await import("./views/settings.js")).SettingsPage),
};
const Banners = lazy(async () => (await import("./views/banners.js")).Banners, { bare: true, small: true });
const Wall = lazy(async () => (await import("./views/wall.js")).Wall);
const NewPasswordPage = lazy(async () => (await import("./views/password.js")).NewPasswordPage);
const SecondFactorPage = lazy(async () => (await import("./views/second_factor.js")).SecondFactorPage);
const SignInPage = lazy(async () => (await import("./views/sign_in.js")).SignInPage);
const SignInDialog = lazy(async () => (await import("./views/sign_in.js")).SignInDialog);
const Help = lazy(async () => (await import("./views/help.js")).Help);
const ClientPanel = lazy(async () => (await import("./views/client_panel.js")).ClientPanel);
const chosen = param("d");

/** @param {{name: import("./lib/address.js").View}} props */
function NavLink({ name }) {
  /** @param {MouseEvent} event */
  const go = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab or window is the browser's business
    event.preventDefault();
    goToView(name);
  };
  const here = view.value === name;
  return html`<a href=${name === "fleet" ? "./" : `?v=${name}`} aria-current=${here ? "page" : undefined} onClick=${go}>
    ${frameWords.nav[name]}</a>`;
}

/** Whether what is shown is fresh, and from when. */
function Live() {
  const at = updatedAt.value;
  const word = at === null ? frameWords.connecting : updating.value ? frameWords.updating : frameWords.paused;
  return html`<span class=${classes("live", at === null ? "waits" : updating.value && "on")}
    title=${at ? frameWords.asOf({ time: exact(at) }) : ""}>
    <span class="live-dot" aria-hidden="true"></span>${word}</span>`;
}

function TopBar() {
  const who = principal.value;
  const role = who && (frameWords.roles[who.role] ?? who.role);
  return html`<header class="top">
    <a class="skip" href="#main">${frameWords.skip}</a>
    <span class="brand"><img src="icon.svg" alt="" width="28" height="28" />${frameWords.product}</span>
    <nav aria-label=${frameWords.product}>
      ${VIEWS.filter((name) => name !== "batches" && name !== "wall").map((name) => h(NavLink, { key: name, name }))}</nav>
    <div class="top-right">
      ${h(Live, {})}
      <span class="who" title=${role}>${who?.name} <span class="tag">${role}</span>
        ${who?.sites && html`<span class="quiet">${frameWords.onlyFor({ sites: allOf(who.sites) })}</span>`}</span>
      ${!byProxy.value && html`<button class="plain" onClick=${signOut}>${frameWords.signOut}</button>`}
    </div>
  </header>`;
}

/** The browser's tab says how much is wrong. */
function useTab() {
  const count = troubles.value;
  useEffect(() => {
    const { product, nav, titled } = frameWords;
    document.title = titled({ n: count, title: view.value === "fleet" ? product : `${nav[view.value]} · ${product}` });
  }, [view.value, count]);
  useEffect(() => document.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }), [view.value]);
  useEffect(() => {
    document.querySelector("link[rel=icon]")?.setAttribute("href", count ? "icon-red.svg" : "icon.svg");
  }, [count > 0]);
}

function Frame() {
  useEffect(watchFleet, []);
  useTab();
  if (view.value === "wall") return html`${h(Wall, {})}${signInNeeded.value && h(SignInDialog, {})}`;
  return html`${h(TopBar, {})}
    <div class=${classes("frame", chosen.value && "with-panel")}>
      <main id="main" tabindex="-1">
        ${h(Banners, {})}
        ${h(PAGES[view.value], {})}
        <footer class="foot quiet">${frameWords.zone({ zone: zoneName })} · <button class="link"
            onClick=${() => (helpOpen.value = true)}>${frameWords.help}</button> · ${h(NavLink, { name: "wall" })} · <a
          class="link" href="/api/docs">${frameWords.api}</a></footer>
      </main>
      ${chosen.value && h(ClientPanel, {})}
    </div>
    ${helpOpen.value && h(Help, {})}
    ${signInNeeded.value && h(SignInDialog, {})}`;
}

function App() {
  const [failed, setFailed] = useState("");
  const ask = () => {
    setFailed("");
    recall().catch((error) => setFailed(wordsOf(error)));
  };
  useEffect(ask, []);
  if (principal.value && mustChangePassword.value) return h(NewPasswordPage, {});
  if (principal.value && mustSetUpSecondFactor.value) return h(SecondFactorPage, {});
  if (principal.value) return h(Frame, {});
  if (principal.value === null) return h(SignInPage, {});
  return html`<main class="sign-in-page" id="main">
    ${failed ? h(LoadFailed, { text: failed, retry: ask }) : h(Loading, { rows: 3 })}</main>`;
}

startTicking();
document.documentElement.lang = language;
const root = document.getElementById("app");
wordsLoaded().then(() => {
  root?.replaceChildren();
  if (root) render(h(App, {}), root);
});
