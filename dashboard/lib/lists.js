/** Lists and ranges, as the reader's language writes them. */
import { language } from "./language.js";
import { listWords } from "./words/lists.js";

/** One after the other: "Mon, Wed". @param {readonly string[]} parts */
export const listed = (parts) => parts.join(listWords.between);

/** From one to another: "09:00–12:00". @param {string | undefined} from @param {string | undefined} to */
export const ranged = (from, to) => `${from}${listWords.to}${to}`;

/** "A, B or C". @param {readonly string[]} parts */
export const anyOf = (parts) => new Intl.ListFormat(language, { type: "disjunction" }).format(parts);
