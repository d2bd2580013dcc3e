// Generated from shared/words/en/page/taken.ftl
import { translate } from "../language.js";
export const takenWords = {
  take: "I am on it",
  takeOf: ({ name }) => `I am on it: ${name}`,
  mine: ({ since }) => `You have been on it since ${since}.`,
  theirs: ({ who, since }) => `${who} has been on it since ${since}.`,
  takeOver: "Take it over",
  giveBack: "Give it back",
  writeNote: "Note…",
};
translate("taken", { takenWords });
