import { count } from "../../format.js";

/** @type {typeof import("../weekdays.js").weekdayWords} */
export const weekdayWords = {
  monday: "Mo",
  tuesday: "Di",
  wednesday: "Mi",
  thursday: "Do",
  friday: "Fr",
  saturday: "Sa",
  sunday: "So",
};

/** @type {typeof import("../weekdays.js").dayNames} */
export const dayNames = {
  monday: "Montag",
  tuesday: "Dienstag",
  wednesday: "Mittwoch",
  thursday: "Donnerstag",
  friday: "Freitag",
  saturday: "Samstag",
  sunday: "Sonntag",
};

/** @type {typeof import("../weekdays.js").hoursWords} */
export const hoursWords = {
  nights: (n) => count(n, "Nacht", "Nächte"),
  and: " und ",
};
