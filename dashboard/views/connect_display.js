/** How a display connects: an admin creates a code that can be used once. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { changeClient, createEnrolment, hashOfOwnCa } from "../lib/api/enrolment.js";
import { displays } from "../lib/api/large_fleet.js";
import { now } from "../lib/clock.js";
import { newUuid } from "../lib/commands.js";
import { clients, places, refresh, take, version } from "../lib/fleet.js";
import { ago, exact, left } from "../lib/format.js";
import { html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { commonWords, tableWords } from "../lib/words/first.js";
import { enrolmentWords } from "../lib/words/enrolment.js";
import { wordsOf } from "../lib/problems.js";
import { CopyButton } from "./copy_button.js";
import { Dialog } from "./dialog.js";
import { Glyph } from "./parts.js";
import { Qr } from "./qr.js";

const PERIOD = 5_000;

/** @typedef {{uuid: string, code: string, expires_at: string, ca: string}} Enrolment ca: see `hashOfOwnCa` */

/** @param {string} name @param {string} site @returns {Promise<Enrolment>} */
async function enrol(name, site) {
  const uuid = newUuid();
  const ca = await hashOfOwnCa();
  const { code, expires_at } = await createEnrolment(uuid);
  await changeClient(uuid, site ? { name, site } : { name });
  return { uuid, code, expires_at, ca };
}

/** Fetch a file by curl or, where there is none, by wget; each with its option. @param {string} into @param {string} from @param {string} [curls] @param {string} [wgets] */
function fetched(into, from, curls = "", wgets = "") {
  const [curl, wget] = [`curl -fsS ${curls}-o ${into} ${from}`, `wget -nv ${wgets}-O ${into} ${from}`];
  return `if command -v curl >/dev/null; then ${curl}; else ${wget}; fi`;
}

/** The line that installs the agent. With a CA of our own it trusts what has the CA's hash, and nothing else. @param {Enrolment} enrolment */
function installLine({ code, ca }) {
  const at = location.origin;
  const script = `${at}/display/install.sh`;
  if (!ca) return `i=$(mktemp) && ${fetched("$i", script)} && sudo sh $i ${at} ${code}`;
  return (
    `c=$(mktemp) i=$(mktemp) && ${fetched("$c", `${at}/display/ca.pem`, "-k ", "--no-check-certificate ")}` +
    ` && echo "${ca}  $c" | sha256sum -c --quiet` +
    ` && ${fetched("$i", script, "--cacert $c ", "--ca-certificate=$c ")} && sudo sh $i ${at} ${code} --ca $c`
  );
}

/** @param {{line: string}} props */
function CommandLine({ line }) {
  return html`<div class="command-line"><pre><code>${line}</code></pre>
    ${h(CopyButton, { text: line, label: enrolmentWords.copyLine })}</div>`;
}

/** @param {{enrolment: Enrolment}} props */
function Code({ enrolment }) {
  void version.value;
  const { uuid, code, expires_at, ca } = enrolment;
  const heard = clients.get(uuid)?.last_heartbeat_at;
  useEffect(() => {
    if (!places.value || heard) return undefined; // polls of a large fleet do not bring heartbeats
    const look = (/** @type {AbortSignal} */ abort) => take(() => displays({ client: uuid }, abort));
    return poll(
      async (abort) => void (await look(abort)),
      () => PERIOD,
    ).stop;
  }, [heard]);
  const over = Date.parse(expires_at) <= now.value;
  const url = `${location.origin}/api/enroll`;
  const exchange = `curl ${ca && "--cacert ca.pem "}-X POST ${url} -H "Content-Type: application/json" -d '{"code": "${code}"}'`;
  return html`<div class="enrolment">
    <p class="code"><code>${code}</code>
      ${h(CopyButton, { text: code, label: `${commonWords.copy}: ${enrolmentWords.code}` })}</p>
    <p class="quiet">${enrolmentWords.uuid}: <code>${uuid}</code></p>
    ${
      heard
        ? html`<p class="done" role="status">${h(Glyph, { shape: "running" })}${enrolmentWords.connected({ age: ago(heard, now.value) })}</p>`
        : html`<p role="status">
          ${over ? enrolmentWords.over : enrolmentWords.until({ time: exact(expires_at), left: left(expires_at, now.value) })}</p>`
    }
    ${
      !over &&
      !heard &&
      html`<div class="qr-row">
        ${h(Qr, { text: JSON.stringify({ url, code }), label: enrolmentWords.qr })}
        <p class="quiet">${enrolmentWords.qrHow}</p></div>`
    }
    <p>${enrolmentWords.install}</p>
    ${h(CommandLine, { line: installLine(enrolment) })}
    ${
      ca &&
      html`<p class="quiet">${enrolmentWords.ownCa} <a href="/display/ca.pem" download>ca.pem</a>
        (SHA-256 <code>${ca}</code>)</p>`
    }
    <details><summary>${enrolmentWords.how}</summary>
      ${h(CommandLine, { line: exchange })}
      <p class="quiet">${enrolmentWords.then}</p></details>
  </div>`;
}

function ConnectForm() {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  const [enrolment, setEnrolment] = useState(/** @type {Enrolment | null} */ (null));

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setBusy(true);
    setFailed("");
    try {
      setEnrolment(await enrol(String(form.get("name")).trim(), String(form.get("site")).trim()));
      refresh();
    } catch (error) {
      setFailed(wordsOf(error));
    }
    setBusy(false);
  }

  if (enrolment) return h(Code, { enrolment });
  return html`<form class="connect" onSubmit=${submit}>
    <label>${enrolmentWords.name}<input name="name" required maxlength="200" autocomplete="off" /></label>
    <label>${enrolmentWords.site}<input name="site" maxlength="200" autocomplete="off" /></label>
    <p class="form-error" role="alert">${failed}</p>
    <button class="primary" disabled=${busy}>${busy ? enrolmentWords.creating : enrolmentWords.create}</button>
  </form>`;
}

/** @param {{close: () => void}} props */
export function ConnectDialog({ close }) {
  const body = [html`<p class="quiet">${enrolmentWords.lead}</p>`, h(ConnectForm, {})];
  return h(Dialog, { title: tableWords.connect, onClose: close, children: body });
}
