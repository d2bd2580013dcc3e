// Generated from shared/words/de/page/weekdays.ftl
import { number } from "../../format.js";
export const weekdayWords = {
  monday: "Mo",
  tuesday: "Di",
  wednesday: "Mi",
  thursday: "Do",
  friday: "Fr",
  saturday: "Sa",
  sunday: "So",
};
export const dayNames = {
  monday: "Montag",
  tuesday: "Dienstag",
  wednesday: "Mittwoch",
  thursday: "Donnerstag",
  friday: "Freitag",
  saturday: "Samstag",
  sunday: "Sonntag",
};
export const hoursWords = {
  nights: ({ n }) => `${number(n)} ${n === 1 ? "Nacht" : "Nächte"}`,
  and: " und ",
};
