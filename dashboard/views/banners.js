/** What is wrong with the service itself, above everything else. */
import { anyOf } from "../lib/lists.js";
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { computed } from "../vendor/signals.js";
import { exact } from "../lib/format.js";
import { html } from "../lib/html.js";
import { clients, failing, overview, reference, updatedAt, version } from "../lib/fleet.js";
import { quietTimes } from "../lib/quiet.js";
import { mayOperate, principal, signOutFailed } from "../lib/session.js";
import { siteNames } from "../lib/sites.js";
import { view } from "../lib/url.js";
import { bannerWords } from "../lib/words/banners.js";
import { lazy } from "./lazy.js";
import { Glyph } from "./parts.js";

const ReleaseDialog = lazy(async () => (await import("./release.js")).ReleaseDialog, { bare: true });
const QuietBanner = lazy(async () => (await import("./quiet_banner.js")).QuietBanner);

/** Whether each open breaker is one of a site that has a card: the card says so. */
const breakerHasCards = computed(() => {
  const { breaker, incidents = [] } = overview.value ?? {};
  const sites = new Set(incidents.map(({ kind, key }) => (kind === "site" ? key : null)));
  return breaker !== undefined && breaker.sites.every((site) => site !== null && sites.has(site));
});

/** @param {{kind: "danger" | "warn", text: string, why?: string | null, children?: any}} props */
function Banner({ kind, text, why, children }) {
  return html`<div class=${`banner banner-${kind}`} role=${kind === "danger" ? "alert" : "status"}>
    ${h(Glyph, { shape: "warning" })}
    <p><strong>${text}</strong>${why && html` <span>${why}</span>`} ${children}</p>
  </div>`;
}

function Offline() {
  if (!failing.value) return null;
  const at = updatedAt.value;
  return h(Banner, {
    kind: "danger",
    text: at ? bannerWords.offline({ time: exact(at) }) : bannerWords.offlineFromTheStart,
    why: reference.value,
  });
}

function StillSignedIn() {
  return signOutFailed.value ? h(Banner, { kind: "danger", text: bannerWords.signOutFailed }) : null;
}

function BridgeSilent() {
  const bridge = overview.value?.bridge;
  if (bridge?.state !== "silent") return null;
  const text = bridge.silent_since ? bannerWords.bridge({ time: exact(bridge.silent_since) }) : bannerWords.bridgeNever;
  return h(Banner, { kind: "danger", text, why: bannerWords.bridgeWhy });
}

function SchedulerLate() {
  const scheduler = overview.value?.scheduler;
  if (!scheduler?.late) return null;
  const at = scheduler.last_tick_at;
  return h(Banner, {
    kind: "warn",
    text: at ? bannerWords.scheduler({ time: exact(at) }) : bannerWords.schedulerNever,
    why: bannerWords.schedulerWhy,
  });
}

/** The question stays when the answer closes the breaker: it goes on to hold again. */
function BreakerOpen() {
  const [asked, setAsked] = useState(/** @type {{sites: string[] | null, n: number} | null} */ (null));
  const breaker = overview.value?.breaker;
  const own = principal.value?.sites ?? null;
  const sites = own && own.filter((site) => breaker?.sites.includes(site)); // the fleet's is not theirs to release
  const ask = () => {
    const n = [...clients.values()].filter(({ recovery }) => recovery?.state === "blocked_breaker").length;
    setAsked({ sites, n });
  };
  const isShown = breaker?.open && !(view.value === "fleet" && breakerHasCards.value);
  const button =
    mayOperate.value &&
    sites?.length !== 0 &&
    html`<button class="link" onClick=${ask}>${bannerWords.release}</button>`;
  return html`${isShown && h(Banner, { kind: "warn", text: bannerWords.breaker, why: breaker.why, children: button })}
    ${asked && h(ReleaseDialog, { ...asked, close: () => setAsked(null) })}`;
}

/** A person of chosen sites who sees nothing there learns why. */
function NothingToSee() {
  void version.value;
  const own = principal.value?.sites;
  if (!own || !overview.value) return null;
  const there = new Set(siteNames());
  const empty = own.filter((site) => !there.has(site));
  if (!empty.length) return null;
  return h(Banner, { kind: "warn", text: bannerWords.empty({ sites: anyOf(empty) }), why: bannerWords.emptyWhy });
}

export function Banners() {
  return html`<div class="banners">${h(StillSignedIn, {})}${h(Offline, {})}${h(BridgeSilent, {})}${h(SchedulerLate, {})}
    ${h(NothingToSee, {})}${h(BreakerOpen, {})}${quietTimes.value.some((one) => one.preset === "maintenance") && h(QuietBanner, {})}</div>`;
}
