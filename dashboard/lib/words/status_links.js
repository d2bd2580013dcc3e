// Generated from shared/words/en/page/status_links.ftl
import { translate } from "../language.js";
export const statusLinkWords = {
  title: "Status pages",
  lead: "Whoever has a link sees one site without an account: its displays by name, how they ran for 7 days, and what is wrong with several of them. A link works until somebody ends it.",
  none: "There is no link yet.",
  failed: "The links could not be loaded.",
  name: "Who gets the link",
  site: "Site",
  make: "Make a link",
  made: "Copy the link now: it is not shown again.",
  copy: "Copy the link",
  lastUsed: "last used",
  neverUsed: "never used",
  ended: "Ended",
  end: "End",
  endOf: ({ name }) => `End the link ${name}`,
  endTitle: "End this link?",
  endWhy: "From now on the page only says that the link is not valid. This cannot be undone.",
};
translate("status_links", { statusLinkWords });
