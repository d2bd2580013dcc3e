// Generated from shared/words/en/page/weekdays.ftl
import { translate } from "../language.js";
export const weekdayWords = {
  monday: "Mon",
  tuesday: "Tue",
  wednesday: "Wed",
  thursday: "Thu",
  friday: "Fri",
  saturday: "Sat",
  sunday: "Sun",
};
export const dayNames = {
  monday: "Monday",
  tuesday: "Tuesday",
  wednesday: "Wednesday",
  thursday: "Thursday",
  friday: "Friday",
  saturday: "Saturday",
  sunday: "Sunday",
};
export const hoursWords = {
  nights: ({ n }) => `${n} nights`,
  and: " and ",
};
translate("weekdays", { weekdayWords, dayNames, hoursWords });
