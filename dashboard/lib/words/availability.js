/** How available the displays of a site were in a month. */
import { count } from "../format.js";
import { translate } from "../language.js";

export const availabilityWords = {
  title: "Availability",
  lead: "The share of the opening hours in which the player ran. Time of which nothing is known does not count.",
  month: "Month",
  soFar: (/** @type {string} */ month) => `${month}, so far`,
  print: "Print",
  csv: "This list, as a table",
  sites: "Sites",
  all: "All sites",
  site: "Site",
  displays: "Displays",
  display: "Display",
  share: "Available",
  down: "Down",
  unknown: "Unknown",
  showAll: (/** @type {number} */ n) => `Show all ${n} sites`,
  none: "There is no display yet.",
  noneHere: "There is no display at this site.",
  failed: "The availability could not be loaded.",
  was: (/** @type {string} */ share, /** @type {string} */ month, /** @type {number} */ n) =>
    `Available for ${share} of the opening hours of ${month}: ${count(n, "display", "displays")}.`,
  nothing: (/** @type {string} */ month) => `Nothing is known about ${month}.`,
  downFor: (/** @type {string} */ time) => `Down for ${time}, all displays together.`,
  unknownFor: (/** @type {string} */ time) => `Nothing is known about ${time}.`,
  closedFor: (/** @type {string} */ time) => `Closed for ${time}, which does not count.`,
  days: "Day by day",
  day: (/** @type {string} */ day, /** @type {string} */ share) => `${day}: ${share}`,
  scale: "The height of a day is what was missed: a full bar is a tenth of the opening hours or more.",
  zone: (/** @type {string} */ zone) => `Days in ${zone}.`,
};

translate("availability", { availabilityWords });
