// Generated from shared/words/en/page/screenshots.ftl
import { number } from "../format.js";
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
  alt: ({ name, time }) => `Screen of ${name}, ${time}`,
  show: ({ time }) => `Show the picture of ${time}`,
  notCapable: "This display sends no pictures of its screen.",
  off: ({ site }) => `Nobody may see the screens of ${site}. An admin can change that.`,
  noSite: "displays without a site",
  hide: ({ site }) => `Let nobody see the screens of ${site}`,
  hideSure: "Delete their pictures, and take no more",
  allow: ({ site }) => `Let operators see the screens of ${site}`,
  cause: {
    screenshots_off: "Nobody may see the screens of this site.",
    screenshot_not_wanted: "The picture came too late.",
  },
  failed: "The pictures could not be loaded.",
  newPictures: "New pictures",
  came: ({ n, all_n }) => `${number(n)} of ${number(all_n)} ${all_n === 1 ? "picture" : "pictures"} came`,
  and: ({ first, next }) => `${first}, ${next}`,
  progress: ({ words }) => `${words}.`,
  part: {
    unable: ({ n }) => `${number(n)} ${n === 1 ? "display" : "displays"} cannot send one`,
    hidden: ({ n }) => `${number(n)} ${n === 1 ? "screen" : "screens"} may not be seen`,
    away: ({ n }) => `${number(n)} ${n === 1 ? "display is" : "displays are"} not connected`,
    silent: ({ n }) => `${number(n)} ${n === 1 ? "display" : "displays"} did not answer`,
    failed: ({ n }) => `${number(n)} failed`,
    waiting: ({ n }) => `${number(n)} still to come`,
  },
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
