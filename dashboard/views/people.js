/** The people who may come in: add, change, reset, disable, remove. For admins. */
import { allOf } from "../lib/format.js";
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { listPeople } from "../lib/api/people.js";
import { now } from "../lib/clock.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { byProxy, principal, provider } from "../lib/session.js";
import { commonWords, frameWords } from "../lib/words/first.js";
import { peopleWords, proxyWords } from "../lib/words/people.js";
import { EmptySites } from "./empty_sites.js";
import { ListState } from "./list_state.js";
import { Age, Time } from "./parts.js";
import { AddPerson, AskPerson, HandOver } from "./people_dialogs.js";

/** @typedef {import("../lib/openapi").User} User */
/** @typedef {import("../lib/openapi").HandedOver} HandedOver */
/** @typedef {import("./people_dialogs.js").Question} Question */
/** @typedef {{question: Question, person: User}} Asked */

/** @param {User} person */
const isMe = (person) => principal.value?.kind === "user" && principal.value.name === person.username;

/** @param {{person: User}} props */
function SignedIn({ person }) {
  return html`${person.last_sign_in_at ? [`${peopleWords.signedIn} `, h(Age, { at: person.last_sign_in_at })] : peopleWords.never}`;
}

/**
 * When they came in last, and what is left of a password that was handed over: behind a proxy neither is known.
 * @param {{person: User}} props
 */
function Facts({ person }) {
  const until = byProxy.value ? null : person.one_time_until;
  return html`<span class="quiet">${!byProxy.value && [h(SignedIn, { person }), " · "]}
      ${peopleWords.since} ${h(Time, { at: person.created_at })}
      ${person.sites && ` · ${frameWords.onlyFor({ sites: allOf(person.sites) })}`}
      ${person.by_provider && ` · ${peopleWords.fromProvider({ name: provider.value ?? peopleWords.someProvider })}`}
      ${person.disabled_at && [` · ${peopleWords.disabledSince} `, h(Time, { at: person.disabled_at })]}</span>
    ${!person.disabled_at && h(EmptySites, { sites: person.empty_sites })}
    ${
      until &&
      (Date.parse(until) > now.value
        ? html`<span class="quiet">${peopleWords.hasUntil} ${h(Time, { at: until })}
        </span>`
        : html`<span class="cause">${peopleWords.over}</span>`)
    }`;
}

/** @param {{person: User, ask: (asked: Asked) => void}} props */
function Menu({ person, ask }) {
  /** The menu closes with what was chosen, and gets the focus back when that is over. @param {Question} question */
  const choose = (question) => (/** @type {MouseEvent} */ event) => {
    const menu = /** @type {HTMLElement} */ (event.currentTarget).closest("details");
    menu?.removeAttribute("open");
    menu?.querySelector("summary")?.focus();
    ask({ question, person });
  };
  /** @param {Question} question @param {string} [look] */
  const item = (question, look = "plain") =>
    html`<button class=${look} key=${question} onClick=${choose(question)}>${peopleWords.ask[question].item}</button>`;
  return html`<details class="more-actions"><summary class="button icon" aria-label=${peopleWords.moreOf({ name: person.username })}>⋯
    </summary>
    <div class="menu">${!person.by_provider && item("role")}${!byProxy.value && item("reset")}${person.second_factor && item("factor")}
      ${item(person.disabled_at ? "enable" : "disable")}${item("remove", "danger")}</div></details>`;
}

/** @param {{person: User, ask: (asked: Asked) => void}} props */
function Row({ person, ask }) {
  return html`<li class="token">
    <span class=${classes("token-body", person.disabled_at && "quiet")}>
      <strong>${person.username}${isMe(person) && html` <span class="quiet">(${peopleWords.you})</span>`}</strong>
      ${h(Facts, { person })}</span>
    ${person.disabled_at && html`<span class="tag">${peopleWords.disabled}</span>`}
    <span class="tag">${frameWords.roles[person.role] ?? person.role}</span>
    ${!isMe(person) && h(Menu, { person, ask })}
  </li>`;
}

export function People() {
  const list = usePages("people", (cursor, abort) => listPeople(cursor, abort));
  const [adding, setAdding] = useState(false);
  const [asked, setAsked] = useState(/** @type {Asked | null} */ (null));
  const [handed, setHanded] = useState(/** @type {HandedOver | null} */ (null));
  /** @param {HandedOver | null} fresh */
  const done = (fresh) => {
    setAdding(false);
    setAsked(null);
    setHanded(byProxy.value ? null : fresh); // a password that nobody can use
    list.reload();
  };
  return html`<section class="card settings-card" aria-labelledby="people-title">
    <div><div class="log-head"><h2 id="people-title">${peopleWords.title}</h2>
        <button class="plain" onClick=${() => setAdding(true)}>${peopleWords.add}</button></div>
      <p class="quiet">${(byProxy.value ? proxyWords : peopleWords).lead} ${provider.value && peopleWords.provided({ name: provider.value })}</p></div>
    ${h(ListState, { list, failed: peopleWords.failed })}
    ${list.items && html`<ul>${list.items.map((person) => h(Row, { key: person.id, person, ask: setAsked }))}</ul>`}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }
    ${adding && h(AddPerson, { close: () => setAdding(false), done })}
    ${asked && h(AskPerson, { ...asked, close: () => setAsked(null), done })}
    ${handed && h(HandOver, { handed, close: () => setHanded(null) })}
  </section>`;
}
