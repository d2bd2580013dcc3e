/** Where a channel sends to: the fields of its service, and a test of what they say before it is saved. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import * as api from "../lib/api/notifications.js";
import { MAIL_PORTS, SERVICES, addressOf, kindOf, serviceOf } from "../lib/channel_address.js";
import { html } from "../lib/html.js";
import { NOT_TRIED, trialWords } from "../lib/trials.js";
import { addressWords } from "../lib/words/channel_address.js";
import { notificationWords } from "../lib/words/notifications.js";
import { wordsOf } from "../lib/problems.js";

/** @typedef {import("../lib/openapi").NotificationChannel} Channel */
/** @typedef {import("../lib/channel_address.js").Service} Service */

const PREFIX = "to-"; // of the names of these fields: they are part of the channel's form

/** What the address fields say, as the API wants it; empty where the saved address stays. @param {FormData} form */
export function addressIn(form) {
  const service = /** @type {Service | null} */ (form.get("service"));
  if (!service) return {};
  const fields = [...form].filter(([name]) => name.startsWith(PREFIX));
  const said = Object.fromEntries(fields.map(([name, value]) => [name.slice(PREFIX.length), String(value).trim()]));
  return { kind: kindOf(service), url: addressOf(service, said) };
}

/** @param {{name: string, more?: object, type?: string, how?: string, optional?: boolean}} props */
function Field({ name, type = "text", how = "", optional = false, more = {} }) {
  const id = `${PREFIX}${name}`;
  return html`<label>${addressWords.fields[name]}
      <input name=${id} type=${type} required=${!optional} maxlength="1000" autocomplete="off" spellcheck=${false}
        aria-describedby=${how ? `${id}-how` : undefined} ...${more} /></label>
    ${how && html`<p class="quiet" id=${`${id}-how`}>${how}</p>`}`;
}

/** A URL is a secret: whoever has it can send. @param {{service: Service}} props */
function Url({ service }) {
  const { pattern, title } = addressWords.forms[service] ?? {};
  const more = pattern ? { pattern, title } : { minlength: 8 };
  return h(Field, { name: "url", type: "password", how: addressWords.how[service], more });
}

function Mail() {
  const [security, setSecurity] = useState("starttls");
  const port = String(MAIL_PORTS[security]);
  return html`${h(Field, { name: "to", how: addressWords.toHow })}${h(Field, { name: "from", type: "email" })}
    <div class="settings-form">${h(Field, { name: "server" })}
      <label>${addressWords.security}
        <select name=${`${PREFIX}security`} value=${security}
          onChange=${(/** @type {any} */ event) => setSecurity(event.currentTarget.value)}>
          ${Object.entries(addressWords.securities).map(
            ([one, word]) => html`<option key=${one} value=${one}>${word}</option>`,
          )}</select></label>
      ${h(Field, { name: "port", type: "number", optional: true, more: { placeholder: port, min: 1, max: 65535 } })}</div>
    <div class="settings-form">${h(Field, { name: "user", optional: true })}
      ${h(Field, { name: "password", type: "password", optional: true, more: { autocomplete: "new-password" } })}</div>`;
}

function Telegram() {
  const more = { pattern: "\\d+:[\\w\\-]+", title: addressWords.tokenForm };
  return html`${h(Field, { name: "token", type: "password", how: addressWords.tokenHow, more })}
    ${h(Field, { name: "chats", how: addressWords.chatsHow })}`;
}

/** The kind, if it may still be chosen, and its fields. @param {{channel: Channel | null}} props */
function Fields({ channel }) {
  const kind = channel?.kind;
  const offered = SERVICES.filter((one) => !kind || kindOf(one) === kind);
  const [service, setService] = useState(channel ? serviceOf(channel) : "mail");
  const form = service === "mail" ? Mail : service === "telegram" ? Telegram : Url;
  return html`<label>${notificationWords.kind}
      <select name="service" value=${service}
        onChange=${(/** @type {any} */ event) => setService(event.currentTarget.value)}>
        ${offered.map((one) => html`<option key=${one} value=${one}>${addressWords.services[one]}</option>`)}
      </select></label>
    ${h(/** @type {any} */ (form), { service, key: service })}${service === "webhook" && h(Secret, { channel })}`;
}

/** @param {{channel: Channel | null}} props */
function Secret({ channel }) {
  return html`<label>${notificationWords.secret}
      <input name="signing_secret" type="password" minlength="16" maxlength="200" autocomplete="new-password" /></label>
    ${channel?.signed && html`<p class="quiet">${notificationWords.keep}</p>`}`;
}

/** Send a message to what the form says, or to the saved address if the form has none. @param {{id?: number}} props */
function Try({ id }) {
  const [said, setSaid] = useState(NOT_TRIED);
  /** @param {MouseEvent} event */
  const go = (event) => {
    const form = /** @type {HTMLButtonElement} */ (event.currentTarget).form;
    if (!form?.reportValidity()) return;
    setSaid({ words: () => notificationWords.testing, bad: false });
    tried(new FormData(form), id).then(
      (result) => setSaid({ words: () => trialWords(result), bad: !result.delivered }),
      (error) => setSaid({ words: () => wordsOf(error), bad: true }),
    );
  };
  return html`<div class="buttons"><button type="button" class="plain" onClick=${go}>${notificationWords.test}</button>
    <span class=${said.bad ? "cause" : "done"} role="status">${said.words()}</span></div>`;
}

/** @param {FormData} form @param {number | undefined} id of the saved channel */
function tried(form, id) {
  const address = addressIn(form);
  if (!address.url && id !== undefined) return api.testChannel(id);
  const secret = String(form.get("signing_secret") ?? "").trim();
  return api.tryChannel({
    ...address,
    name: String(form.get("name")).trim(),
    language: String(form.get("language")),
    ...(secret && { signing_secret: secret }),
  });
}

/** What is known of a saved address: "Slack · slack://…". @param {Channel} channel */
const savedAddress = (channel) => `${addressWords.services[serviceOf(channel)]} · ${channel.address}`;

/** A saved address is never shown: it stays, or is written anew. @param {{channel: Channel | null}} props */
export function ChannelAddress({ channel }) {
  const [anew, setAnew] = useState(!channel);
  return html`<fieldset><legend>${notificationWords.url}</legend><div class="connect">
    ${
      anew
        ? h(Fields, { channel })
        : html`<p class="buttons"><span>${channel && savedAddress(channel)}</span>
            <button type="button" class="plain" onClick=${() => setAnew(true)}>${addressWords.anew}</button></p>
            ${channel?.kind === "webhook" && h(Secret, { channel })}`
    }
    ${h(Try, { id: channel?.id })}</div></fieldset>`;
}
