/** The dialogs about people: add one, ask before a change, and the password that is shown once. */
import { h } from "../vendor/preact.js";
import * as api from "../lib/api/people.js";
import { html } from "../lib/html.js";
import { byProxy } from "../lib/session.js";
import { peopleWords, proxyWords } from "../lib/words/people.js";
import { roleWords } from "../lib/words/roles.js";
import { CopyButton } from "./copy_button.js";
import { FormDialog } from "./form_dialog.js";
import { Dialog } from "./dialog.js";
import { Time } from "./parts.js";

/** @typedef {import("../lib/openapi").User} User */
/** @typedef {import("../lib/openapi").HandedOver} HandedOver */
/** @typedef {"role" | "reset" | "factor" | "disable" | "enable" | "remove"} Question */
/** @typedef {(fresh: HandedOver | null) => void} Done what was changed brought a password to hand over, or none */

const ROLES = ["viewer", "operator", "admin"];

/** @param {{present: string}} props */
function RoleField({ present }) {
  return html`<label>${peopleWords.role}<select name="role">
      ${ROLES.map(
        (role) => html`<option key=${role} value=${role} selected=${role === present}>${roleWords[role]}
        </option>`,
      )}</select></label>`;
}

/** @param {{present: string[] | null, id?: string}} props id: of its hint, unlike that of another form on the page */
export function SitesField({ present, id = "sites-how" }) {
  return html`<label>${peopleWords.sites}<textarea name="sites" rows="3" aria-describedby=${id}
        defaultValue=${(present ?? []).join("\n")}></textarea></label>
    <p class="quiet" id=${id}>${peopleWords.sitesHow}</p>`;
}

/** The chosen sites; null: all. @param {FormData} form */
export function sitesIn(form) {
  const lines = String(form.get("sites")).split("\n");
  const named = lines.map((line) => line.trim()).filter(Boolean);
  return named.length ? named : null;
}

/** @param {{close: () => void, done: Done}} props */
export function AddPerson({ close, done }) {
  /** @param {FormData} form */
  const act = (form) => api.addPerson(String(form.get("username")).trim(), String(form.get("role")), sitesIn(form));
  const { name, nameHow } = byProxy.value ? proxyWords : peopleWords;
  const children = html`<label>${name}<input name="username" required maxlength="64" autocomplete="off"
        autocapitalize="none" spellcheck=${false} autofocus aria-describedby="name-how" /></label>
    <p class="quiet" id="name-how">${nameHow}</p>
    ${h(RoleField, { present: ROLES[0] ?? "" })}${h(SitesField, { present: null })}`;
  return h(FormDialog, { title: peopleWords.addTitle, go: peopleWords.addGo, act, done, close, children });
}

/**
 * What each question does once it was answered.
 * @type {Record<Question, (person: User, form: FormData) => Promise<HandedOver | null>>}
 */
const ACTS = {
  role: (person, form) =>
    api.changePerson(person.id, { role: String(form.get("role")), sites: sitesIn(form) }).then(() => null),
  reset: (person) => api.resetPassword(person),
  factor: (person) => api.resetSecondFactor(person).then(() => null),
  disable: (person) => api.changePerson(person.id, { disabled: true }).then(() => null),
  enable: (person) => api.changePerson(person.id, { disabled: false }).then(() => null),
  remove: (person) => api.removePerson(person.id).then(() => null),
};
const GRAVE = new Set(["disable", "remove"]);

/** @param {{question: Question, person: User, close: () => void, done: Done}} props */
export function AskPerson({ question, person, close, done }) {
  const { title, text, go } = peopleWords.ask[question];
  const why = (byProxy.value && proxyWords.ask[question]) || text;
  /** @param {FormData} form */
  const act = (form) => ACTS[question](person, form);
  const rights = [h(RoleField, { present: person.role }), h(SitesField, { present: person.sites })];
  const comesBack = question === "remove" && person.by_provider && html`<p>${peopleWords.comesBack}</p>`;
  const children = [question === "role" && rights, html`<p class="quiet">${why}</p>`, comesBack];
  return h(FormDialog, {
    title: title({ name: person.username }),
    go,
    look: GRAVE.has(question) ? "danger" : "primary",
    act,
    done,
    close,
    children,
  });
}

/** The password, this once; only its own button closes it. @param {{handed: HandedOver, close: () => void}} props */
export function HandOver({ handed, close }) {
  const { user, one_time_password: password, one_time_until: until } = handed;
  const body = html`<div class="issued"><strong>${peopleWords.handOver.once}</strong>
      <span class="code"><code>${password}</code>${h(CopyButton, { text: password, label: peopleWords.handOver.copy })}</span>
    </div>
    <p>${peopleWords.handOver.how({ name: user.username })}</p>
    <p class="quiet">${peopleWords.handOver.until} ${h(Time, { at: until })}.</p>
    <div class="dialog-foot"><button class="primary" onClick=${close} autofocus>${peopleWords.handOver.done}</button></div>`;
  return h(Dialog, { title: peopleWords.handOver.title({ name: user.username }), children: body });
}
