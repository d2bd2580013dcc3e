/** What people write about displays. */
import { count } from "../format.js";
import { translate } from "../language.js";

export const editWords = {
  button: "Edit…",
  title: "Edit the display",
  name: "Name",
  site: "Site",
  tags: "Tags, separated by commas",
  notes: "Notes",
  teamNote: "Note for colleagues",
  go: "Save",
  manyButton: "Move or tag…",
  manyTitle: "Move or tag displays",
  many: (/** @type {number} */ n) => `This changes ${count(n, "display", "displays")}.`,
  move: "Move them to this site; an empty one means no site",
  add: "Add tags",
  remove: "Remove tags",
  left: (/** @type {string[]} */ names) =>
    `All but these were changed; they are gone, or would have too many tags: ${names.slice(0, 5).join(", ")}`,
  woken: (/** @type {string[]} */ names) =>
    `No quiet time leaves these alone any more: ${names.slice(0, 5).join(", ")}`,
};

translate("edit", { editWords });
