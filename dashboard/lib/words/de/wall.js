// Generated from shared/words/de/page/wall.ftl
import { number } from "../../format.js";
export const wallWords = {
  bridge: "Die Bridge schweigt: Der Zustand der Displays ist unbekannt.",
  leave: "Zurück zur Flotte",
  mended: ({ n }) => `${number(n)} ${n === 1 ? "Dienstausfall ist" : "Dienstausfälle sind"} behoben, aber nicht quittiert.`,
};
