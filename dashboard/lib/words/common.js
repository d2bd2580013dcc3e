// Generated from shared/words/en/page/common.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const commonWords = {
  loading: "Loading…",
  working: "Working…",
  retry: "Try again",
  retrying: "Trying again automatically.",
  reload: "Reload",
  more: "Load more",
  andMore: ({ n }) => `and ${number(n)} more`,
  csv: "Save as CSV",
  close: "Close",
  cancel: "Cancel",
  dismiss: "Dismiss",
  copy: "Copy",
  copied: "Copied",
  none: "none",
  never: "never",
  notReported: "not reported",
  by: ({ who }) => `by ${who}`,
  notLoaded: "This part of the page could not be loaded.",
  quietTimes: "quiet times",
  outOfDate: "Not updating: what you see may be out of date",
};
translate("common", { commonWords });
