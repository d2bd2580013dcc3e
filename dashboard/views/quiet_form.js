/** The dialog that makes or changes a quiet time: a sentence says what it will do, and what is refused stands beside its field. */
import { h } from "../vendor/preact.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { ApiProblem } from "../lib/api/call.js";
import * as api from "../lib/api/quiet_times.js";
import { now, serverNow } from "../lib/clock.js";
import { newUuid } from "../lib/commands.js";
import { clients, places, refresh, version } from "../lib/fleet.js";
import { nameOf, zoneName } from "../lib/format.js";
import { html } from "../lib/html.js";
import { matches, searched } from "../lib/match.js";
import * as form from "../lib/quiet_form.js";
import { covered } from "../lib/covered.js";
import { siteNames } from "../lib/sites.js";
import { largeWords } from "../lib/words/large.js";
import { commonWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { previewOf } from "../lib/quiet_preview.js";
import { quietFormWords, quietTimesWords } from "../lib/words/quiet_times.js";
import { Dialog } from "./dialog.js";
import { WeekEditor } from "./quiet_hours.js";
import { whomOf } from "./quiet_parts.js";
import { quietClass } from "./quiet_style.js";

/** @typedef {import("../lib/quiet_form.js").Draft} Draft */
/** @typedef {import("../lib/quiet_form.js").Field} Field */
/** @typedef {import("../lib/types").QuietTime} QuietTime */
/** @typedef {Partial<Record<Field, string>>} Errors */
/** @typedef {{draft: Draft, set: (changes: Partial<Draft>) => void, errors: Errors}} Fields */

const SHOWN = 20; // displays in the list to choose from
const ZONES = [...new Set([zoneName, "UTC", ...Intl.supportedValuesOf("timeZone")])];

/** @param {Event} event */
const typed = (event) => /** @type {HTMLInputElement | HTMLSelectElement} */ (event.currentTarget).value;

/** What is wrong with a field, for the field itself. @param {Errors} errors @param {Field} field */
const marked = (errors, field) =>
  errors[field] ? { "aria-invalid": "true", "aria-describedby": `quiet-error-${field}` } : {};

/** The same of a group of fields. @param {Errors} errors @param {Field} field */
const markedGroup = (errors, field) =>
  errors[field] ? { class: "wrong", "aria-describedby": `quiet-error-${field}` } : {};

/** What is wrong with a field, in words beside it. @param {{errors: Errors, field: Field}} props */
function Wrong({ errors, field }) {
  return html`<p class="form-error" id=${`quiet-error-${field}`}>${errors[field] ?? ""}</p>`;
}

/** Names of the sites, or the tags, of all displays. @param {"site" | "tags"} what */
function known(what) {
  void version.value;
  return what === "site" ? siteNames() : [...new Set([...clients.values()].flatMap((one) => one.tags ?? []))].sort();
}

/** @param {Fields & {presets: readonly string[]}} props */
function Kind({ draft, set, presets }) {
  return html`<fieldset><legend>${quietFormWords.kind}</legend>
    <div class="choices">${presets.map(
      (preset) => html`<label class="check" key=${preset}><input type="radio" name="preset" value=${preset}
          checked=${draft.preset === preset} onChange=${() => set(form.withPreset(draft, preset))} />
        ${quietTimesWords.presets[preset]}</label>`,
    )}</div>
    <p class="quiet">${quietTimesWords.meaning[draft.preset]}</p></fieldset>`;
}

/** @param {Fields} props */
function Displays({ draft, set, errors }) {
  const [text, setText] = useState("");
  const chosen = new Set(draft.clients);
  const found = [...clients.values()]
    .filter((client) => matches(client, { words: searched(text) }))
    .sort((a, b) => Number(chosen.has(b.uuid)) - Number(chosen.has(a.uuid)) || nameOf(a).localeCompare(nameOf(b)));
  /** @param {string} uuid */
  const turn = (uuid) =>
    set({ clients: chosen.has(uuid) ? draft.clients.filter((one) => one !== uuid) : [...draft.clients, uuid] });
  return html`<label>${quietFormWords.find}<input type="search" value=${text} autocomplete="off"
        onInput=${(/** @type {Event} */ event) => setText(typed(event))} ...${marked(errors, "whom")} /></label>
    <ul class="pick-list">${found.slice(0, SHOWN).map(
      (client) => html`<li key=${client.uuid}><label class="check"><input type="checkbox"
            checked=${chosen.has(client.uuid)} onChange=${() => turn(client.uuid)} />
          ${nameOf(client)} <span class="quiet">${client.site ?? ""}</span></label></li>`,
    )}</ul>
    ${places.value && html`<p class="quiet">${largeWords.pick}</p>`}
    <p class="quiet" role="status">${quietFormWords.chosen({ n: chosen.size })}
      ${found.length > SHOWN && ` · ${quietFormWords.moreFound({ n: found.length - SHOWN })}`}</p>`;
}

/** @param {Fields} props */
function Whom({ draft, set, errors }) {
  const scopes = Object.keys(quietFormWords.scope).filter(
    (scope) => scope !== "clients" || draft.preset !== "opening_hours",
  );
  const { scope } = draft;
  const place = scope === "site" ? "site" : "tag";
  return html`<div class="settings-form"><label>${quietFormWords.whom}
      <select value=${scope} onChange=${(/** @type {Event} */ event) => set({ scope: typed(event) })}>
        ${scopes.map((one) => html`<option key=${one} value=${one}>${quietFormWords.scope[one]}</option>`)}</select>
    </label>
    ${
      (scope === "site" || scope === "tag") &&
      html`<label>${quietFormWords[place]}<input required maxlength="200" list="quiet-places" value=${draft[place]}
          autocomplete="off" onInput=${(/** @type {Event} */ event) => set({ [place]: typed(event) })}
          ...${marked(errors, "whom")} /></label>
        <datalist id="quiet-places">${known(scope === "site" ? "site" : "tags").map(
          (one) => html`<option key=${one} value=${one} />`,
        )}</datalist>`
    }</div>
    ${scope === "clients" && h(Displays, { draft, set, errors })}
    ${h(Wrong, { errors, field: "whom" })}`;
}

/** @param {Fields} props */
function Quiet({ draft, set, errors }) {
  /** @param {string} one */
  const turn = (one) =>
    set({ quiet: draft.quiet.includes(one) ? draft.quiet.filter((other) => other !== one) : [...draft.quiet, one] });
  return html`<fieldset ...${markedGroup(errors, "quiet")}><legend>${quietFormWords.quiet}</legend>
    <div class="choices">${form.QUIET.map(
      (one) => html`<label class="check" key=${one}><input type="checkbox" checked=${draft.quiet.includes(one)}
          onChange=${() => turn(one)} />${quietTimesWords.what[one]}</label>`,
    )}</div>${h(Wrong, { errors, field: "quiet" })}</fieldset>`;
}

/** @param {Fields & {field: "starts" | "ends", label: string, required?: boolean}} props */
function Moment({ draft, set, errors, field, label, required = false }) {
  return html`<div><label>${label}<input type="datetime-local" value=${draft[field]} required=${required}
        step=${draft[field].length > 16 ? 1 : 60} max="9999-12-31T23:59:59"
        onInput=${(/** @type {Event} */ event) => set({ [field]: typed(event) })} ...${marked(errors, field)} /></label>
    ${h(Wrong, { errors, field })}</div>`;
}

/** For how long, or until which time. @param {Fields} props */
function Length({ draft, set, errors }) {
  const lengths = form.LENGTHS[draft.preset];
  if (!lengths) return null;
  return html`<div class="settings-form"><label>${quietFormWords.how}
      <select value=${draft.length} onChange=${(/** @type {Event} */ event) => set({ length: typed(event) })}
        ...${draft.length === "at" ? {} : marked(errors, "ends")}>
        ${lengths.hours.map((n) => html`<option key=${n} value=${String(n)}>${quietFormWords.hours({ n })}</option>`)}
        ${lengths.open && html`<option value="open">${quietFormWords.openEnd}</option>`}
        <option value="at">${quietFormWords.at}</option></select></label>
    ${
      draft.length === "at" &&
      h(Moment, {
        draft,
        set,
        errors,
        field: "ends",
        label: quietFormWords.untilHere({ zone: zoneName }),
        required: true,
      })
    }</div>
    ${draft.length !== "at" && h(Wrong, { errors, field: "ends" })}`;
}

/** @param {Fields} props */
function Times({ draft, set, errors }) {
  const needed = form.needsEnd(draft);
  const label = needed ? quietFormWords.until : quietFormWords.untilOptional;
  return html`<div class="settings-form">
      ${h(Moment, { draft, set, errors, field: "starts", label: quietFormWords.from })}
      ${h(Moment, { draft, set, errors, field: "ends", label, required: needed })}</div>
    <p class="quiet">${quietFormWords.yourTime({ zone: zoneName })}</p>
    <label class="check"><input type="checkbox" checked=${draft.weekly}
        onChange=${() => set({ weekly: !draft.weekly })} />${quietFormWords.weekly}</label>`;
}

/** @param {Fields} props */
function Hours({ draft, set, errors }) {
  const isOpening = draft.preset === "opening_hours";
  const zones = ZONES.includes(draft.zone) ? ZONES : [draft.zone, ...ZONES];
  return html`<fieldset ...${markedGroup(errors, "hours")}>
      <legend>${isOpening ? quietFormWords.openingHours : quietFormWords.weeklyHours}</legend>
      ${h(WeekEditor, { week: draft.week, isOpening, set: (week) => set({ week }) })}
      ${h(Wrong, { errors, field: "hours" })}</fieldset>
    <label>${quietFormWords.zone}<select value=${draft.zone} ...${marked(errors, "zone")}
        onChange=${(/** @type {Event} */ event) => set({ zone: typed(event) })}>${zones.map(
          (zone) => html`<option key=${zone} value=${zone}>
            ${zone === zoneName ? quietFormWords.zoneOwn({ zone }) : zone}</option>`,
        )}</select></label>
    ${h(Wrong, { errors, field: "zone" })}`;
}

/** @param {Fields} props */
function Reason({ draft, set, errors }) {
  const needed = form.needsReason(draft);
  return html`<label>${needed ? quietFormWords.reason : quietFormWords.reasonOptional}
      <input value=${draft.reason} required=${needed} maxlength="500" autocomplete="off"
        onInput=${(/** @type {Event} */ event) => set({ reason: typed(event) })} ...${marked(errors, "reason")} />
    </label>${h(Wrong, { errors, field: "reason" })}`;
}

/** What it will do, in one sentence. @param {{draft: Draft}} props */
function Preview({ draft }) {
  void version.value;
  const only = draft.clients.length === 1 ? clients.get(draft.clients[0] ?? "") : undefined;
  const name = only ? nameOf(only) : "";
  const text = previewOf(draft, { covered: covered(draft), name, reference: now.value });
  return html`<p class="consequence" role="status">${text}</p>`;
}

/**
 * Send the same again with the same key, so that a request whose answer was lost makes nothing twice.
 * @param {Draft} draft @param {QuietTime | null} time the stored one that changes
 */
function useSend(draft, time) {
  const sent = useRef({ about: "", key: "", body: /** @type {Record<string, unknown>} */ ({}) });
  return () => {
    const about = JSON.stringify([draft, time?.id]);
    if (sent.current.about !== about) {
      const body = time ? form.changesOf(draft, time, serverNow()) : form.bodyOf(draft, serverNow());
      sent.current = { about, key: newUuid(), body };
    }
    const { key, body } = sent.current;
    return time ? api.changeQuietTime(time.id, body) : api.makeQuietTime(body, key);
  };
}

const NOTHING_REFUSED = { fields: /** @type {Errors} */ ({}), other: "", exists: 0 };

/**
 * What the service refused, in words beside the fields that the form shows. The first field has the focus, and after a
 * refusal the first wrong one.
 * @param {Draft} draft @param {QuietTime | null} time the stored one that changes
 * @param {{current: HTMLFormElement | null}} element
 */
function useRefusal(draft, time, element) {
  const [refused, setRefused] = useState(NOTHING_REFUSED);
  useEffect(() => {
    const wrong = "[aria-invalid], .wrong :is(input, button)";
    /** @type {HTMLElement | null | undefined} */ (element.current?.querySelector(wrong))?.focus();
  }, [refused]);
  useEffect(() => {
    const fields = element.current?.querySelectorAll("input[type=radio]:checked, select, input:not([type=radio])");
    /** @type {HTMLElement | undefined} */ (fields?.[0])?.focus();
  }, []);
  /** @param {unknown} error */
  const refuse = (error) => {
    if (!(error instanceof ApiProblem) || error.status >= 500 || error.status === 403)
      return setRefused({ ...NOTHING_REFUSED, other: wordsOf(error) });
    const problem = /** @type {import("../lib/types").Problem & {quiet_time_id?: number}} */ (error.problem);
    setRefused({
      ...form.refusalOf(problem, form.shownFields(draft, Boolean(time))),
      exists: problem.quiet_time_id ?? 0,
    });
  };
  return { refused, refuse, forget: () => setRefused(NOTHING_REFUSED) };
}

/**
 * @param {object} props
 * @param {QuietTime | null} [props.time] the stored one to change
 * @param {string} [props.preset] of a new one
 * @param {import("../lib/quiet_form.js").Whom | null} [props.whom] whom a new one is about; without it the form asks
 * @param {readonly string[]} [props.presets] to choose from; with one alone the form does not ask
 * @param {() => void} props.close
 * @param {() => void} props.done
 */
export function QuietDialog({ time: given = null, preset = "hold", whom = null, presets = [preset], close, done }) {
  const [time, setTime] = useState(given);
  const [draft, setDraft] = useState(() =>
    given ? form.draftOf(given, zoneName) : form.newDraft(preset, whom, zoneName),
  );
  const [busy, setBusy] = useState(false);
  const element = useRef(/** @type {HTMLFormElement | null} */ (null));
  const send = useSend(draft, time);
  const { refused, refuse, forget } = useRefusal(draft, time, element);
  const set = (/** @type {Partial<Draft>} */ changes) => setDraft((before) => ({ ...before, ...changes }));
  const { fields: errors } = refused;
  const fields = { draft, set, errors };
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    if (time && Object.keys(form.changesOf(draft, time, serverNow())).length === 0) return done();
    setBusy(true);
    forget();
    send().then(
      () => [refresh(), done()],
      (error) => [setBusy(false), refuse(error)],
    );
  };
  /** The opening hours that are there already, with the hours that were typed. */
  const changeThat = () =>
    api.getQuietTime(refused.exists).then((found) => {
      setTime(found);
      setDraft({ ...form.draftOf(found, zoneName), week: draft.week, zone: draft.zone });
      forget();
    }, refuse);
  const body = html`<form class=${`connect ${quietClass}`} ref=${element} onSubmit=${submit}>
    ${!time && presets.length > 1 && h(Kind, { ...fields, presets })}
    ${!time && presets.length === 1 && html`<p class="quiet">${quietTimesWords.meaning[draft.preset]}</p>`}
    ${!time && !whom && h(Whom, fields)}
    ${
      !time &&
      whom &&
      html`<div><p><strong>${whomOf(draft)}</strong></p>
        ${h(Wrong, { errors, field: "whom" })}</div>`
    }
    ${
      refused.exists > 0 &&
      html`<button type="button" class="link" onClick=${changeThat}>${quietFormWords.editThat}
      </button>`
    }
    ${draft.preset === "custom" && !time && h(Quiet, fields)}
    ${h(Length, fields)}
    ${form.hasTimes(draft) && h(Times, fields)}
    ${form.hasHours(draft) && h(Hours, fields)}
    ${h(Reason, fields)}
    <div class="quiet-foot">${h(Preview, { draft })}
    <p class="form-error" role="alert">${refused.other}</p>
    <div class="dialog-foot"><button type="button" class="plain" onClick=${close}>${commonWords.cancel}</button>
      <button class="primary" disabled=${busy}>
        ${busy ? commonWords.working : time ? quietFormWords.save : quietFormWords.go}</button></div></div>
  </form>`;
  const named = quietTimesWords.presets[draft.preset] ?? draft.preset;
  const title = time
    ? quietFormWords.editTitle({ preset: named })
    : presets.length > 1
      ? quietFormWords.addTitle
      : named;
  return h(Dialog, { title, onClose: close, children: body });
}
