// Generated from shared/words/de/page/mended.ftl
import { number } from "../../format.js";
export const mendedWords = {
  title: "Behobenes quittieren",
  lead: "Diese Displays laufen wieder, und ihre Zustandsmeldungen nennen keinen Ausfall.",
  left: ({ n }) => `${number(n)} ${n === 1 ? "Ausfall bleibt" : "Ausfälle bleiben"}: Das Display ist erneut ausgefallen, oder jemand war schneller.`,
};
