/** Maintenance of the whole fleet or of whole shops, with its end, above everything else. */
import { h } from "../vendor/preact.js";
import { version } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { quietTimes } from "../lib/quiet.js";
import { covered } from "../lib/covered.js";
import { mayOperate } from "../lib/session.js";
import { goToView } from "../lib/url.js";
import { quietWhy } from "../lib/quiet_now.js";
import { quietBannerWords } from "../lib/words/quiet_now.js";
import { Glyph } from "./parts.js";
import { EndQuiet } from "./quiet_end.js";
import { quietClass } from "./quiet_style.js";

/** @typedef {import("../lib/types").QuietNow} QuietNow */

const FEW = 3;

/** @param {QuietNow} one */
const whomOf = (one) => one.site ?? quietBannerWords.fleet;

/** @param {{one: QuietNow}} props */
function One({ one }) {
  void version.value;
  const whom = whomOf(one);
  const { scope, site, tag, clients: named } = one;
  const covers = covered({ scope, site: site ?? "", tag: tag ?? "", clients: named });
  return html`<p><strong>${quietBannerWords.text({ whom, word: quietWhy(one) })}</strong> ${
    mayOperate.value &&
    h(EndQuiet, {
      id: one.id,
      covers,
      label: quietBannerWords.endOf({ whom }),
      name: quietBannerWords.text({ whom, word: quietWhy(one) }),
      look: "link",
      done: () => {},
    })
  }</p>`;
}

/** @param {MouseEvent} event */
function toThePage(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  goToView("quiet");
}

export function QuietBanner() {
  const wide = quietTimes.value.filter((one) => one.preset === "maintenance" && /^(fleet|site)$/.test(one.scope));
  if (!wide.length) return null;
  const shown = wide.length > FEW ? wide.filter((one) => one.scope === "fleet") : wide;
  const others = wide.length - shown.length;
  return html`<div class=${`banner banner-quiet ${quietClass}`} role="status">
    ${h(Glyph, { shape: "stopped" })}
    <div class="quiet-lines">${shown.map((one) => h(One, { key: one.id, one }))}
      ${others > 0 && html`<p><strong>${quietBannerWords.many({ n: others })}</strong></p>`}
      <a class="link" href="?v=quiet" onClick=${toThePage}>${quietBannerWords.all}</a></div>
  </div>`;
}
