// @ts-check
/** htm bound to Preact: `html` writes DOM tags, `h(Component, props)` mounts components (typed props). */
import htm from "../vendor/htm.js";
import { h } from "../vendor/preact.js";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => import("../vendor/preact.js").VNode<any>} */
export const html = /** @type {any} */ (htm.bind(/** @type {any} */ (h)));

/**
 * Class names from what is true: `classes("tile", on && "on")`.
 * @param {...(string | false | null | undefined)} names
 */
export function classes(...names) {
  return names.filter(Boolean).join(" ");
}
