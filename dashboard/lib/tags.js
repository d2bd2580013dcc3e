/** The tags of displays. */
import { language } from "./language.js";

const names = new Intl.Collator(language, { numeric: true, sensitivity: "base" });

/** The tags with their counts, the most frequent first. @param {Iterable<import("./types").Client>} clients */
export function tagsOf(clients) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const { tags } of clients) for (const tag of tags ?? []) found.set(tag, (found.get(tag) ?? 0) + 1);
  return [...found].sort((a, b) => b[1] - a[1] || names.compare(a[0], b[0]));
}
