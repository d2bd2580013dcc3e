/** The days of the week, and hours of them. */
import { translate } from "../language.js";

/** The days of the week, short. @type {Record<string, string>} */
export const weekdayWords = {
  monday: "Mon",
  tuesday: "Tue",
  wednesday: "Wed",
  thursday: "Thu",
  friday: "Fri",
  saturday: "Sat",
  sunday: "Sun",
};

/** Their whole names. @type {Record<string, string>} */
export const dayNames = {
  monday: "Monday",
  tuesday: "Tuesday",
  wednesday: "Wednesday",
  thursday: "Thursday",
  friday: "Friday",
  saturday: "Saturday",
  sunday: "Sunday",
};

/** Parts of the times of a day. */
export const hoursWords = {
  nights: (/** @type {number} */ n) => `${n} nights`,
  and: " and ",
};

translate("weekdays", { weekdayWords, dayNames, hoursWords });
