/** htm bound to Preact: `html` writes DOM tags, `h(Component, props)` mounts components (typed props). */
import htm from "../vendor/htm.js";
import { h } from "../vendor/preact.js";
import { plain } from "./plain.js";

const READ_OUT = ["title", "aria-label", "alt"];

/** @param {any} child @returns {any} */
function shown(child) {
  if (typeof child === "string") return plain(child);
  return Array.isArray(child) ? child.map(shown) : child;
}

/**
 * One tag. Its text cannot contain characters that hide or reverse other text.
 * @param {any} type @param {any} props @param {...any} children
 */
function tag(type, props, ...children) {
  for (const name of READ_OUT) if (typeof props?.[name] === "string") props[name] = plain(props[name]);
  return h(type, props, ...children.map(shown));
}

/** @type {(strings: TemplateStringsArray, ...values: any[]) => import("../vendor/preact.js").VNode<any>} */
export const html = /** @type {any} */ (htm.bind(/** @type {any} */ (tag)));

/**
 * Class names from the truthy arguments: `classes("tile", on && "on")`.
 * @param {...(string | false | null | undefined)} names
 */
export function classes(...names) {
  return names.filter(Boolean).join(" ");
}
