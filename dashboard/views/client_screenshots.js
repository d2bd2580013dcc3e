/** What a display's screen shows: the last picture with its age, a new one on demand, those before a failure. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { allowScreenshots, screenshotsOf } from "../lib/api/screenshots.js";
import { dismiss, isOver, order, orderOf } from "../lib/commands.js";
import { exact } from "../lib/format.js";
import { html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { mayAdminister, mayOperate } from "../lib/session.js";
import { commandWords } from "../lib/words/commands.js";
import { commonWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { screenshotWords } from "../lib/words/screenshots.js";
import { blocked } from "./command_box.js";
import { Age, LoadFailed, Time } from "./parts.js";
import { Picture } from "./picture.js";
import { pictureCause } from "./stepper.js";

/** @typedef {import("../lib/types").Client} Client */
/** @typedef {import("../lib/openapi").Screenshot} Screenshot */
/** @typedef {import("../lib/openapi").ScreenshotsOfClient} Found */

const PERIOD = 15_000;

/** @param {{list: Screenshot[], title: string, name: string, shown: number, show: (id: number) => void}} props */
function Row({ list, title, name, shown, show }) {
  if (!list.length) return null;
  return html`<p class="quiet">${title}</p><div class="buttons">${list.map(
    (
      one,
    ) => html`<button key=${one.id} class="link" aria-pressed=${one.id === shown} title=${screenshotWords.show({ time: exact(one.taken_at) })} onClick=${() => show(one.id)}>
      ${h(Picture, { one, name, small: true })}<span class="quiet">${h(Time, { at: one.taken_at })}</span></button>`,
  )}</div>`;
}

/** @param {{items: Screenshot[], name: string}} props */
function Pictures({ items, name }) {
  const [chosen, setChosen] = useState(0);
  const newest = items[0];
  useEffect(() => setChosen(0), [newest?.id]);
  if (!newest) return html`<p class="quiet">${screenshotWords.none}</p>`;
  const shown = items.find((one) => one.id === chosen) ?? newest;
  const failed = items.find((one) => one.failure_at)?.failure_at;
  const common = { name, shown: shown.id, show: setChosen };
  const earlier = items.filter((one) => !one.failure_at && one.id !== newest.id);
  return html`<div>${h(Picture, { one: shown, name })}
      <p class="quiet">${screenshotWords.taken} ${h(Age, { at: shown.taken_at })}
        ${shown.failure_at && html` · ${screenshotWords.before} ${h(Time, { at: shown.failure_at })}`}</p></div>
    ${failed && h(Row, { list: items.filter((one) => one.failure_at), title: screenshotWords.beforeFailure, ...common })}
    ${h(Row, { list: earlier, title: screenshotWords.earlier, ...common })}`;
}

/** How the picture that was asked for here comes along. @param {{uuid: string}} props */
function Progress({ uuid }) {
  const current = orderOf(uuid, "screenshot");
  if (!current) return null;
  const { phase, command, problem } = current;
  const over = command !== null && isOver(command);
  if (over && command.state === "succeeded") return null;
  const bad = over
    ? pictureCause(command)
    : phase === "refused"
      ? wordsOf(problem)
      : phase === "lost"
        ? commandWords.unreachable
        : "";
  return bad
    ? html`<p class="cause" role="alert">${bad} <button class="link" onClick=${() => dismiss(uuid, "screenshot")}>
        ${commonWords.dismiss}</button></p>`
    : html`<p role="status">${screenshotWords.taking}</p>`;
}

/** An admin says whether the screens of this site may be seen. @param {{site: string, allowed: boolean, done: () => void}} props */
function Policy({ site, allowed, done }) {
  const [sure, setSure] = useState(false);
  const [failed, setFailed] = useState("");
  const name = site || screenshotWords.noSite;
  const go = () =>
    allowScreenshots(site, !allowed).then(
      () => [setSure(false), done()],
      (error) => setFailed(wordsOf(error)),
    );
  const words = allowed
    ? sure
      ? screenshotWords.hideSure
      : screenshotWords.hide({ site: name })
    : screenshotWords.allow({ site: name });
  return html`<button class="link" onClick=${allowed && !sure ? () => setSure(true) : go}>${words}</button>
    ${failed && html`<p class="form-error" role="alert">${failed}</p>`}`;
}

/** @param {{client: Client, name: string}} props */
export function ClientScreenshots({ client, name }) {
  const { uuid } = client;
  const [found, setFound] = useState(/** @type {Found | null} */ (null));
  const [failed, setFailed] = useState("");
  const [asked, setAsked] = useState(0); // something was just changed here
  const current = orderOf(uuid, "screenshot");
  const over = Boolean(current?.command && isOver(current.command));
  useEffect(() => {
    if (!mayOperate.value) return undefined;
    return poll(
      async (abort) => {
        setFound(await screenshotsOf(uuid, abort));
        setFailed("");
      },
      () => PERIOD,
      (error) => setFailed(wordsOf(error)),
    ).stop;
  }, [uuid, asked, over, mayOperate.value]);
  if (!mayOperate.value) return null;
  const capable = client.capabilities?.includes("screenshot");
  if (!capable && !found?.items.length) return html`<p class="quiet">${screenshotWords.notCapable}</p>`;
  const why = blocked("screenshot", client, current);
  const site = client.site ?? "";
  return html`<section class="command-box" aria-label=${screenshotWords.title}>
    <h3>${screenshotWords.title}</h3>
    ${
      found?.allowed === false
        ? html`<p class="quiet">${screenshotWords.off({ site: site || screenshotWords.noSite })}</p>`
        : html`<div class="buttons"><button class="plain" disabled=${why !== null} title=${why ?? ""}
            onClick=${() => order(uuid, "screenshot")}>${screenshotWords.take}</button></div>`
    }
    ${h(Progress, { uuid })}
    ${failed && h(LoadFailed, { text: screenshotWords.failed, why: failed })}
    ${found?.allowed && h(Pictures, { items: found.items, name })}
    ${
      mayAdminister.value &&
      found &&
      h(Policy, { site, allowed: found.allowed, done: () => setAsked(asked + 1), key: `${site} ${found.allowed}` })
    }
  </section>`;
}
