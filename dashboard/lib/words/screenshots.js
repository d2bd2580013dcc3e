/** Pictures of displays' screens. */
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
};

translate("screenshots", { screenshotWords });
