/** A browser's common name, from its User-Agent. */
import { ownSessionWords } from "./words/own_sessions.js";

/** The first that fits: most of them call themselves by the names of others, too. @type {[RegExp, string][]} */
const BROWSERS = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\/|Opera/, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrom(e|ium)\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
];
/** @type {[RegExp, string][]} */
const SYSTEMS = [
  [/Windows/, "Windows"],
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Mac OS X/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** "Chrome on Linux"; what it sent where nothing of it is known. @param {string} sent */
export function browserName(sent) {
  /** @param {[RegExp, string][]} known */
  const first = (known) => known.find(([form]) => form.test(sent))?.[1];
  const browser = first(BROWSERS);
  const system = first(SYSTEMS);
  if (!browser) return sent;
  return system ? ownSessionWords.browserOn({ browser, system }) : browser;
}
