/**
 * The reader's language. English stands in the files of `words/`; another language has a file of the same name, whose
 * words are laid over the English ones. Where it has none, or cannot be loaded, English stays.
 */

/** The languages, each by its own name: `make words` writes them here from shared/words/languages.py. */
export const LANGUAGES = /** @type {const} */ ({
  en: "English",
  de: "Deutsch",
  ja: "日本語",
});

/** @typedef {keyof typeof LANGUAGES} Language */

const STORED = "signage.language";

/** @param {string} tag "de-AT"; of "en-US@posix" `Intl` makes nothing @returns {Language | undefined} */
function known(tag) {
  const [, word] = /^([a-z]+)(-\w+)*$/.exec(tag) ?? [];
  return /** @type {Language[]} */ (Object.keys(LANGUAGES)).find((one) => one === word);
}

function stored() {
  try {
    return localStorage.getItem(STORED) ?? "";
  } catch {
    return ""; // no storage: as the browser
  }
}

/** The reader's own choice; undefined: as the browser. */
export const chosen = known(stored());

const tags = globalThis.navigator?.languages ?? [];

export const language = chosen ?? tags.map(known).find(Boolean) ?? "en";

/** The language with the reader's region, for dates and numbers. Without a region English dates would be American. */
export const locale = tags.find((tag) => known(tag) === language) ?? (language === "en" ? "en-GB" : language);

/** Keep a choice, and show the page in that language. @param {string} tag empty: as the browser */
export function choose(tag) {
  if (tag) localStorage.setItem(STORED, tag);
  else localStorage.removeItem(STORED);
  location.reload();
}

/** @type {Promise<void>[]} */
const loading = [];

/**
 * Lay the reader's language over the English words of one file.
 * @param {string} name of the file @param {Record<string, Record<string, any>>} english what it exports
 */
export function translate(name, english) {
  if (language === "en") return;
  const load = import(`./words/${language}/${name}.js`);
  loading.push(load.then((own) => lay(english, own)).catch(() => {}));
}

/** @param {Record<string, any>} english @param {Record<string, any>} own */
function lay(english, own) {
  for (const [name, word] of Object.entries(own)) {
    if (word?.constructor === Object && english[name]) lay(english[name], word);
    else english[name] = word;
  }
}

/** Resolves when the words of all modules that have been loaded are there, also of those that these load; it never fails. */
export async function wordsLoaded() {
  for (let awaited = 0; awaited < loading.length;) {
    awaited = loading.length;
    await Promise.all(loading);
  }
}
