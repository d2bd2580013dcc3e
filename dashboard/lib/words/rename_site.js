// Generated from shared/words/en/page/rename_site.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const renameWords = {
  link: ({ site }) => `Rename ${site}…`,
  title: ({ site }) => `Rename ${site}`,
  how: "Displays, rights, channels, quiet times, schedules and status pages bear the new name at once.",
  to: "New name",
  go: "Rename",
  merge: ({ site }) => `There is a site ${site}. Make both one: its opening hours hold. This cannot be undone.`,
  atProvider: ({ n }) => `The sign-in service gives ${number(n)} ${n === 1 ? "person" : "people"} the old name at the next sign-in. Rename the site there, too, or they will see no display.`,
};
translate("rename_site", { renameWords });
