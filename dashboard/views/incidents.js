/** Displays that failed together: what they have in common, who they are, and what happened in which order. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import * as api from "../lib/api/incidents.js";
import { now } from "../lib/clock.js";
import { classes, html } from "../lib/html.js";
import { duration } from "../lib/measures.js";
import { usePages } from "../lib/pages.js";
import { poll } from "../lib/poll.js";
import { go, param } from "../lib/url.js";
import { causeWords } from "../lib/words/trouble.js";
import { commonWords } from "../lib/words/first.js";
import { incidentWords } from "../lib/words/incidents.js";
import { wordsOf } from "../lib/problems.js";
import { ListState } from "./list_state.js";
import { IncidentScreens } from "./incident_screens.js";
import { LoadFailed, Loading, NameButton, StatusBadge, Time } from "./parts.js";
import { QuietLink } from "./quiet_link.js";

/** @typedef {import("../lib/types").Incident} Incident */
/** @typedef {import("../lib/types").IncidentDetails} IncidentDetails */

const PERIOD = 5_000;
const chosen = param("i");
const which = param("which");

/** @param {Incident} incident */
function lasted(incident) {
  const until = incident.closed_at ? Date.parse(incident.closed_at) : now.value;
  return duration((until - Date.parse(incident.began_at)) / 1000);
}

/** @param {{incident: Incident}} props */
function Numbers({ incident }) {
  const { members, unwell, closed_at } = incident;
  const text =
    incident.kind === "listening"
      ? incidentWords.ours
      : closed_at
        ? incidentWords.were({ members_n: members })
        : unwell === 0
          ? incidentWords.back({ members_n: members })
          : incidentWords.are({ unwell_n: unwell, members_n: members });
  const kind = incidentWords.kind[incident.kind] ?? incident.kind;
  const time = (closed_at ? incidentWords.lasted : incidentWords.lasts)({ time: lasted(incident) });
  return html`<span class="quiet">
    ${kind} · ${text} · ${time}${incident.times > 1 && ` · ${causeWords.again({ n: incident.times })}`}</span>`;
}

/** @param {{incident: Incident}} props */
function Row({ incident }) {
  const on = chosen.value === String(incident.id);
  return html`<li><button class=${classes("incident-row", on && "on")} aria-pressed=${on}
      onClick=${() => go({ i: on ? null : String(incident.id) })}>
      <span class="incident-head"><span class=${classes("tag", incident.closed_at ? "" : "tag-orange")}>
          ${incident.closed_at ? incidentWords.closed : incidentWords.open}</span>
        <span class="quiet">#${incident.id}</span>${h(Time, { at: incident.began_at })}</span>
      <span class="incident-cause">${incident.cause}</span>
      ${h(Numbers, { incident })}
    </button></li>`;
}

/** @param {{details: IncidentDetails}} props */
function Displays({ details }) {
  const list = details.displays.items;
  if (!list.length) return null;
  return html`<h3>${incidentWords.displays}</h3><ul class="incident-displays">${list.map(
    (one) => html`<li key=${one.uuid}>${h(NameButton, { client: one })}
      ${one.site && html`<span class="quiet">${one.site}</span>`}
      ${
        one.left_at
          ? html`<span class="quiet">${incidentWords.well} ${h(Time, { at: one.left_at })}
          </span>`
          : h(StatusBadge, { status: one.status })
      }
      ${one.unit && html`<code>${one.unit}</code>`}</li>`,
  )}</ul>${
    details.displays.next_cursor &&
    html`<p class="quiet">${commonWords.andMore({ n: details.members - list.length })}
    </p>`
  }`;
}

/** @param {{id: string}} props */
function Details({ id }) {
  const [details, setDetails] = useState(/** @type {IncidentDetails | null} */ (null));
  const [failed, setFailed] = useState("");
  useEffect(() => {
    setDetails(null);
    const look = async (/** @type {AbortSignal} */ abort) => {
      setDetails(await api.getIncident(id, abort));
      setFailed("");
    };
    return poll(
      look,
      () => PERIOD,
      (error) => setFailed(wordsOf(error)),
    ).stop;
  }, [id]);
  if (!details) return failed ? h(LoadFailed, { text: incidentWords.failedOne, why: failed }) : h(Loading, { rows: 4 });
  return html`<div class="incident-details">
    <div class="incident-head"><h2>${incidentWords.number({ id: details.id })}</h2>
      <span class=${classes("tag", details.closed_at ? "" : "tag-orange")}>
        ${details.closed_at ? incidentWords.closed : incidentWords.open}</span></div>
    <p>${details.cause}</p>
    ${h(Numbers, { incident: details })}
    ${
      details.merged_into &&
      html`<p><button class="link" onClick=${() => go({ i: String(details.merged_into) })}>
          ${incidentWords.merged({ id: details.merged_into })}</button></p>`
    }
    ${
      details.again_of &&
      html`<p>${causeWords.again({ n: details.times })} · <button class="link"
        onClick=${() => go({ i: String(details.again_of) })}>${incidentWords.before({ id: details.again_of })}</button></p>`
    }
    ${details.in_maintenance > 0 && html`<p class="quiet">${incidentWords.inMaintenance({ n: details.in_maintenance })}</p>`}
    ${h(Displays, { details })}
    ${h(IncidentScreens, { details })}
    <h3>${incidentWords.timeline}</h3>
    <ol class="events">${details.timeline.items.map(
      (one, i) => html`<li class="event" key=${i}><span class="event-mark" aria-hidden="true">${one.count ?? ""}</span>
        <span class="event-text">${one.title}</span><span class="event-time quiet">${h(Time, { at: one.at })}</span>
      </li>`,
    )}</ol>
  </div>`;
}

/** @param {{list: import("../lib/pages.js").Paged<Incident>}} props */
function List({ list }) {
  const state = h(ListState, { list, failed: incidentWords.failed, rows: 4 });
  if (!list.items) return state;
  const none = which.value === "closed" ? incidentWords.noneClosed : incidentWords.noneOpen;
  return html`${state}<ul aria-busy=${list.busy}>${list.items.map((incident) => h(Row, { key: incident.id, incident }))}
    </ul>
    ${list.items.length === 0 && html`<p class="note">${none}</p>`}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }`;
}

/** Asks for the first page again and again. @param {string} about @param {() => void} renew */
function useRenewal(about, renew) {
  useEffect(
    () =>
      poll(
        async () => renew(),
        () => 3 * PERIOD,
      ).stop,
    [about],
  );
}

export function IncidentsPage() {
  const open = which.value !== "closed";
  const about = open ? "open" : "closed";
  const list = usePages(about, (cursor, abort) => api.listIncidents({ open, cursor }, abort));
  useRenewal(about, list.renew);
  return html`<div class="page-head"><h1>${incidentWords.title}</h1>
      <div class="chips" role="group" aria-label=${incidentWords.which}>${
        /** @type {const} */ (["open", "closed"]).map(
          (word) =>
            html`<button key=${word} class=${classes("chip", about === word && "on")} aria-pressed=${about === word}
              onClick=${() => go({ which: word === "open" ? null : word, i: null })}>${incidentWords[word]}</button>`,
        )
      }</div></div>
    <p class="quiet lead">${incidentWords.lead}</p>
    <div class=${classes("incidents", chosen.value && "with-details")}>
      <section class="card" aria-label=${incidentWords.title}>${h(List, { list })}</section>
      ${
        chosen.value &&
        html`<section class="card" aria-label=${incidentWords.number({ id: Number(chosen.value) })}>
          ${h(Details, { id: chosen.value, key: chosen.value })}</section>`
      }
    </div>
    ${h(QuietLink, { text: incidentWords.maintenance })}`;
}
