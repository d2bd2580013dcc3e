/** What stands in place of a list that is not there yet: a placeholder, or why it did not come. */
import { h } from "../vendor/preact.js";
import { LoadFailed, Loading } from "./parts.js";

/**
 * Nothing while all is well. A failure is said also beside rows from before.
 * @param {{list: import("../lib/pages.js").Paged<any>, failed: string, rows?: number}} props
 *   failed: what could not be loaded, in words; rows: of the placeholder
 */
export function ListState({ list, failed, rows = 2 }) {
  if (list.failed) return h(LoadFailed, { text: failed, why: list.why, retry: list.reload });
  return list.items ? null : h(Loading, { rows });
}
