/** How far a bulk command is, in a sentence whose numbers add up to its displays. */
import { listed } from "./lists.js";
import { batchWords } from "./words/batches.js";

/**
 * @param {{good: number, going: number, bad: number, waiting: number, unsent: Record<string, number>, all: number}} of
 *   how many of all displays; `unsent`: outcome -> how many
 */
export function progressOf({ good, going, bad, waiting, unsent, all }) {
  const words = batchWords.progress;
  const left = Object.entries(unsent);
  const sum = left.reduce((n, [, amount]) => n + amount, 0);
  const reasons = left.map(([outcome, n]) => {
    const why = batchWords.unsent[outcome] ?? outcome;
    return left.length > 1 ? batchWords.unsentAmount({ n, why }) : why;
  });
  const parts = [
    words.good({ n: good, all_n: all }),
    going && words.going({ n: going }),
    waiting && words.waiting({ n: waiting }),
    bad && words.bad({ n: bad }),
    sum && words.unsent({ n: sum, why: listed(reasons) }),
  ];
  return words.whole({ parts: listed(parts.filter((part) => part !== 0)) });
}
