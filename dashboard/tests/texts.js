/** The texts for people that stand in a program: between the tags of `html` templates, in attributes, in sentences. */

/** Attributes that people read or hear. */
const READ = /^(title|aria-label|aria-description|aria-roledescription|aria-valuetext|placeholder|alt|label)$/;
/** A value that a template puts in. */
const VALUE = "\u0001";
/** Two words in a row, or a value and a word, or one word that begins as a name does. */
const SENTENCE = /\p{L}[,:;.…]? [\p{L}\u0001]|\u0001[,:;.…]? \p{L}|^\p{Lu}\p{Ll}+/u;
const WORD = /\p{L}{2,}/u;
/** What stands before a text that nobody reads: class names, an error's own text, an import, a media query, a request. */
const NOBODY_READS =
  /(\bclasses\((?:[^()]|\([^()]*\))*|new \w*(?:Error|Unreachable|Exception)\([^()]*|(?:from|import|import\() ?|\b(?:querySelector(?:All)?|matchMedia|matches|closest|getResponseHeader|setRequestHeader)\([^()]*|\bcall\([^()]*)$/;

/**
 * The texts of one program, each with its line.
 * @param {string} source
 * @returns {{line: number, text: string}[]}
 */
export function textsIn(source) {
  /** @type {{line: number, text: string}[]} */
  const found = [];
  const put = (at, text) =>
    found.push({ line: source.slice(0, at).split("\n").length, text: text.replaceAll(VALUE, "…").trim() });
  let at = 0;

  /** Where the next of these signs ends. @param {string} sign */
  const end = (sign) => (source.indexOf(sign, at) + 1 || source.length) + sign.length - 1;

  /** Read code up to the brace that ends it; `quiet`: it makes the value of an attribute that nobody reads. */
  function code(quiet) {
    let depth = 0;
    while (at < source.length) {
      const one = source[at];
      if (source.startsWith("//", at)) at = end("\n");
      else if (source.startsWith("/*", at)) at = end("*/");
      else if (one === '"' || one === "'") string(one, quiet);
      else if (one === "`") template(quiet);
      else if (one === "/" && /^\s*$|[(,=:[!&|?{};]\s*$|\breturn $/.test(source.slice(Math.max(0, at - 80), at)))
        regex();
      else if (one === "{") (depth++, at++);
      else if (one === "}" && depth-- === 0) {
        at++;
        return;
      } else at++;
    }
  }

  function regex() {
    let inClass = false;
    for (at++; at < source.length && (source[at] !== "/" || inClass); at++) {
      if (source[at] === "\\") at++;
      else if (source[at] === "[") inClass = true;
      else if (source[at] === "]") inClass = false;
    }
    at++;
  }

  function string(quote, quiet) {
    const begins = at;
    for (at++; at < source.length && source[at] !== quote; at++) if (source[at] === "\\") at++;
    at++;
    judge(begins, source.slice(begins + 1, at - 1), quiet);
  }

  function judge(begins, text, quiet) {
    if (quiet || !SENTENCE.test(text)) return;
    const before = source.slice(Math.max(0, begins - 200), begins);
    if (!NOBODY_READS.test(before)) put(begins, text);
  }

  function template(quiet) {
    const begins = at;
    const isMarkup = source.slice(0, at).endsWith("html");
    let text = "";
    for (at++; at < source.length && source[at] !== "`";) {
      if (source.startsWith("${", at)) {
        at += 2;
        const attribute = isMarkup ? attributeAt(text) : null;
        code(attribute === null ? quiet && !isMarkup : !READ.test(attribute));
        text += VALUE;
      } else {
        if (source[at] === "\\") text += source[at++];
        text += source[at++];
      }
    }
    at++;
    if (isMarkup) markup(begins, text);
    else judge(begins, text, quiet);
  }

  function markup(begins, text) {
    const outside = text.replace(/<[a-z/!][^>]*>/gs, (tag) => {
      for (const [, name, value] of tag.matchAll(/([\w-]+)=("[^"]*"|[^\s>"]+)/g))
        if (name && READ.test(name) && WORD.test(value ?? "")) put(begins, (value ?? "").replace(/^"|"$/g, ""));
      return VALUE;
    });
    for (const part of outside.split(VALUE)) if (WORD.test(part)) put(begins, part);
  }

  /** The attribute whose value begins at the end of this markup; null between tags. */
  function attributeAt(text) {
    if (text.lastIndexOf("<") <= text.lastIndexOf(">")) return null;
    return /([\w-]+)="?[^"\s]*$/.exec(text)?.[1] ?? "";
  }

  while (at < source.length) code(false);
  return found;
}
