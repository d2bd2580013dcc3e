// Generated from shared/words/de/page/release.ftl
import { number } from "../../format.js";
export const releaseWords = {
  title: "Wiederherstellung handeln lassen?",
  ask: ({ n, most_n }) => `${number(n)} ${n === 1 ? "Display wird" : "Displays werden"} zurückgehalten. Die Wiederherstellung darf jetzt ${most_n === 1 ? "eines" : `bis zu ${number(most_n)}`} davon neu starten.`,
  later: "Fallen später weitere Displays gemeinsam aus, hält sie sich wieder zurück.",
  go: "Handeln lassen",
  done: "Die Wiederherstellung darf jetzt handeln.",
  hold: "Wieder anhalten …",
};
