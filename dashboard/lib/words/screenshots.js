/** Pictures of displays' screens. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

export const screenshotWords = {
  title: "Screen",
  wall: "Pictures of the screens",
  take: "Take a screenshot",
  taking: "Waiting for the display's picture…",
  none: "No picture yet.",
  taken: "Taken",
  before: "Before the failure at",
  beforeFailure: "The last pictures before the failure",
  beforeFailures: "Screens before they failed",
  earlier: "Earlier pictures",
  alt: (/** @type {string} */ name, /** @type {string} */ time) => `Screen of ${name}, ${time}`,
  show: (/** @type {string} */ time) => `Show the picture of ${time}`,
  notCapable: "This display sends no pictures of its screen.",
  off: (/** @type {string} */ site) => `Nobody may see the screens of ${site}. An admin can change that.`,
  noSite: "displays without a site",
  hide: (/** @type {string} */ site) => `Let nobody see the screens of ${site}`,
  hideSure: "Delete their pictures, and take no more",
  allow: (/** @type {string} */ site) => `Let operators see the screens of ${site}`,
  cause: /** @type {Record<string, string>} */ ({
    screenshots_off: "Nobody may see the screens of this site.",
    screenshot_not_wanted: "The picture came too late.",
  }),
  failed: "The pictures could not be loaded.",
  newPictures: "New pictures",
  /** How far the new pictures of many displays are; the numbers add up to `all`. @param {string[]} rest */
  progress: (/** @type {number} */ came, /** @type {number} */ all, rest) =>
    `${[`${number(came)} of ${count(all, "picture", "pictures")} came`, ...rest].join(", ")}.`,
  /** The displays whose picture did not come, or not yet. @type {Record<string, (n: number) => string>} */
  part: {
    unable: (n) => `${count(n, "display", "displays")} cannot send one`,
    hidden: (n) => `${count(n, "screen", "screens")} may not be seen`,
    away: (n) => `${count(n, "display is", "displays are")} not connected`,
    silent: (n) => `${count(n, "display", "displays")} did not answer`,
    failed: (n) => `${number(n)} failed`,
    waiting: (n) => `${number(n)} still to come`,
  },
  /** The same of one display. @type {Record<string, string>} */
  step: {
    unable: "Cannot send one",
    hidden: "May not be seen",
    away: "Not connected",
    silent: "Did not answer",
    failed: "Failed",
    waiting: "A new one is on its way…",
  },
};

translate("screenshots", { screenshotWords });
