// Generated from shared/words/en/page/availability.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const availabilityWords = {
  title: "Availability",
  lead: "The share of the opening hours in which the player ran. Time of which nothing is known does not count.",
  month: "Month",
  soFar: ({ month }) => `${month}, so far`,
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
  showAll: ({ n }) => `Show all ${n} sites`,
  none: "There is no display yet.",
  noneHere: "There is no display at this site.",
  failed: "The availability could not be loaded.",
  was: ({ share, month, n }) => `Available for ${share} of the opening hours of ${month}: ${number(n)} ${n === 1 ? "display" : "displays"}.`,
  nothing: ({ month }) => `Nothing is known about ${month}.`,
  downFor: ({ time }) => `Down for ${time}, all displays together.`,
  unknownFor: ({ time }) => `Nothing is known about ${time}.`,
  closedFor: ({ time }) => `Closed for ${time}, which does not count.`,
  days: "Day by day",
  day: ({ day, share }) => `${day}: ${share}`,
  scale: "The height of a day is what was missed: a full bar is a tenth of the opening hours or more.",
  zone: ({ zone }) => `Days in ${zone}.`,
};
translate("availability", { availabilityWords });
