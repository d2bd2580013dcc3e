// Generated from shared/words/en/page/edit.ftl
import { number } from "../format.js";
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
  many: ({ n }) => `This changes ${number(n)} ${n === 1 ? "display" : "displays"}.`,
  move: "Move them to this site; an empty one means no site",
  add: "Add tags",
  remove: "Remove tags",
  left: ({ names }) => `All but these were changed; they are gone, or would have too many tags: ${names}`,
  woken: ({ names }) => `No quiet time leaves these alone any more: ${names}`,
};
translate("edit", { editWords });
