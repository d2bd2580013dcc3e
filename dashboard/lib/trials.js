/** What became of a message that tries a channel. */
import { notificationWords } from "./words/notifications.js";

/** @param {import("./openapi").TrialResult} result */
export function trialWords({ delivered, words }) {
  return (delivered ? notificationWords.tested : notificationWords.testFailed)({ words });
}

/** What stands where nothing was tried yet. @type {{words: () => string, bad: boolean}} */
export const NOT_TRIED = { words: () => "", bad: false };
