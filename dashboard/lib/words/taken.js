/** Who is on it. */
import { translate } from "../language.js";

export const takenWords = {
  take: "I am on it",
  takeOf: (/** @type {string} */ name) => `I am on it: ${name}`,
  mine: (/** @type {string} */ since) => `You have been on it since ${since}.`,
  theirs: (/** @type {string} */ who, /** @type {string} */ since) => `${who} has been on it since ${since}.`,
  takeOver: "Take it over",
  giveBack: "Give it back",
  writeNote: "Note…",
};

translate("taken", { takenWords });
