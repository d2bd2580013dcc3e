/** The dialog that renames a site. */
import { count } from "../format.js";
import { translate } from "../language.js";

export const renameWords = {
  link: (/** @type {string} */ site) => `Rename ${site}…`,
  title: (/** @type {string} */ site) => `Rename ${site}`,
  how: "Displays, rights, channels, quiet times, schedules and status pages bear the new name at once.",
  to: "New name",
  go: "Rename",
  merge: (/** @type {string} */ site) =>
    `There is a site ${site}. Make both one: its opening hours hold. This cannot be undone.`,
  atProvider: (/** @type {number} */ n) =>
    `The sign-in service gives ${count(n, "person", "people")} the old name at the next sign-in. Rename the site there, too, or they will see no display.`,
};

translate("rename_site", { renameWords });
