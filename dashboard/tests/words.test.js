import "./browser.js";
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { LANGUAGES } from "../lib/language.js";
import { textsIn } from "./texts.js";

const here = new URL("..", import.meta.url);
const programs = ["app.js", ...["lib", "lib/api", "views"].flatMap((folder) => filesIn(folder))];
const nouns = filesIn("lib/words").map((file) => file.split("/").at(-1));

function filesIn(folder) {
  const all = readdirSync(new URL(folder, here));
  return all.filter((name) => name.endsWith(".js")).map((name) => `${folder}/${name}`);
}

const sourceOf = (file) => readFileSync(new URL(file, here), "utf8");

/** What the rule takes for a text, but no person reads as one: names of programs, keys of lists, shell, files, errors. */
const NO_TEXTS = new Set([
  ...["lib/browser_name.js Edge", "lib/browser_name.js Opera", "lib/browser_name.js Firefox"],
  ...["lib/browser_name.js Chrome", "lib/browser_name.js Safari", "lib/browser_name.js Windows"],
  ...["lib/browser_name.js Android", "lib/browser_name.js ChromeOS", "lib/browser_name.js Linux"],
  ...["lib/measures.js … B", "lib/measures.js … kB", "lib/measures.js … MB"],
  ...["lib/api/call.js Accept-Language", "lib/api/status_page.js Accept-Language"],
  ...["lib/api/call.js Content-Type", "lib/api/call.js Retry-After", "lib/api/commands.js Idempotency-Key"],
  ...["lib/api/failures.js If-Match", "lib/uploads.js AbortError", "views/client_panel.js Escape"],
  ...["views/finder.js Enter", "views/finder.js ArrowDown"],
  "lib/api/call.js The service answered ….", // of an answer that is not the service's: problems.js words it
  "lib/commands.js … screenshot",
  "lib/exports.js availability … ….csv",
  "views/connect_display.js (SHA-256",
  "views/connect_display.js ca.pem",
  "views/connect_display.js --cacert ca.pem",
  ...["Enter", "Esc", "g f", "g l", "g c", "g i", "g q", "g a", "g s"].map((key) => `views/help.js ${key}`),
  "views/quiet_form.js [aria-invalid], .wrong :is(input, button)",
  ...["views/schedules.js planned …", "views/schedules.js over …", "views/second_factor.js set up"],
]);
const isOwnName = (file, text) => file === "lib/language.js" && Object.values(LANGUAGES).includes(text);
const isShell = (text) => /^curl |\b(curl|wget) -|\$\(mktemp\)|sudo sh |command -v /.test(text);

const textsOf = (file) =>
  textsIn(sourceOf(file))
    .filter(({ text }) => !NO_TEXTS.has(`${file} ${text}`) && !isShell(text) && !isOwnName(file, text))
    .map(({ line, text }) => `${file}:${line} ${text}`);

test("every text that people read stands in a file of words", () => {
  assert.ok(programs.length > 120);
  assert.deepEqual(programs.flatMap(textsOf), []);
});

test("the exceptions are still there", () => {
  const all = new Set(programs.flatMap((file) => textsIn(sourceOf(file)).map(({ text }) => `${file} ${text}`)));

  assert.deepEqual(
    [...NO_TEXTS].filter((one) => !all.has(one)),
    [],
  );
});

const PLANTED = [
  ["html`<p>Nothing here</p>`", "Nothing here"],
  ["html`<p>${name} failed</p>`", "failed"],
  ["html`<b>${a && html`<i>Deep</i>`}</b>`", "Deep"],
  ['html`<input placeholder="Search" />`', "Search"],
  ["html`<p title=${on ? `Show all` : x}></p>`", "Show all"],
  ['html`<p title=${on ? "Show" : ""}></p>`', "Show"],
  ["html`<button aria-label=Close />`", "Close"],
  ['confirm("Remove it?")', "Remove it?"],
  ['const title = "Logs";', "Logs"],
  ["return `${n} displays`;", "… displays"],
  ["return n > 1 ? `last ${n}` : ``;", "last …"],
  ['throw new ApiProblem(x), tell("It failed")', "It failed"],
];
const HARMLESS = [
  'html`<p class="a b" id=${`x-${n}`} data-what="plain name"></p>`',
  'html`<p class=${classes("tag on", on && "very off")}></p>`',
  'html`<svg viewBox="0 0 10 10"><path d="M0 0h1v1h-1z" /></svg>`',
  'throw new Error("no such thing")',
  "// a comment with words\n/* and `another` one */",
  'import { x } from "./A thing.js";',
  "/'[A-Z]`/.test(x)",
];

for (const [source, text] of PLANTED)
  test(`a text is found: ${source}`, () => {
    assert.deepEqual(
      textsIn(`const x = 1;\n${source}`).map((one) => one.text),
      [text],
    );
  });

test("what nobody reads is no text", () => {
  for (const source of HARMLESS) assert.deepEqual(textsIn(source), [], source);
});

test("no words are taken while a module is loaded: another language's are not there yet", () => {
  const taken =
    /^(?:export )?const (?!.*=>)[^=]+=(?:(?!=>|\bfunction\b|^\S)[^])*?\b[a-z]\w*(?:Words|Names|Meanings)(?:\.|\[)/m;
  const outer = (file) => sourceOf(file).replace(/Object\.keys\([^)]*\)/g, "");

  assert.match('const A = [\n  ["x", someWords.x],\n];', taken);
  assert.deepEqual(
    programs.filter((file) => taken.test(outer(file))),
    [],
  );
});

/** The texts in it, of a function its source. @param {any} of @returns {[string, string][]} */
function texts(of, name) {
  if (typeof of !== "object") return [[name, String(of).replace(/\/\*.*?\*\/|\s+/gs, "")]];
  return Object.entries(of).flatMap(([key, value]) => texts(value, `${name}.${key}`));
}

/** Texts that are the same in another language: names, technical terms, and what has no words. */
const SAME = new Set(
  [
    ..."API,IP,URL,Bridge,Webhook,Slack,Telegram,Microsoft Teams,Port,Chats,STARTTLS,TLS,Code,Name,Status".split(","),
    ..."Version,System,Screenshot,Hostname,Mailserver,Live,Display,Displays,Debug,Info".split(","),
    "Signage Fleet",
    "https://…/workflows/…/triggers/manual/paths/invoke?…",
    "https://hooks.slack.com/services/…/…/…",
    "({ name }) => `Display ${name}`",
    "({ n, title }) => n === 0 ? `${title}` : `(${n}) ${title}`",
    "https://.+/workflows/.+/triggers/manual/paths/invoke.+",
    "https://hooks\\.slack\\.com/services/.+/.+/.+",
  ].map((text) => text.replace(/\s+/g, "")),
);

/** Nothing but values and signs is left of the source of a function: `${day}: ${share}`. @param {string} source */
const hasNoWords = (source) =>
  !/\p{L}/u.test(source) || (source.includes("=>") && !/\p{L}/u.test(source.replace(/^.*?=>|\$\{[^}]*\}|°C/g, "")));

for (const language of ["de", "ja"])
  test(`no text is the English one, but for names: ${language}`, async () => {
    const same = [];
    for (const file of nouns) {
      const english = new Map(texts(await import(`../lib/words/${file}`), file));
      for (const [name, text] of texts(await import(`../lib/words/${language}/${file}`), file))
        if (english.get(name) === text && !SAME.has(text) && !hasNoWords(text)) same.push(`${name} ${text}`);
    }

    assert.deepEqual(same, []);
  });

/** A number, or a value that is one; not the last part of a name such as "UTF-8". */
const NUMBER = String.raw`(?:(?<![A-Za-z][-\w. ]*)\d+%?|\$\{number\([^{}]*\)\}%?|\$\{n\})`;
const JAPANESE = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー（）、。「」]`;
const SPACED = new RegExp(`${NUMBER} ${JAPANESE}|${JAPANESE} ${NUMBER}`, "u");

test("in Japanese no space stands beside a number, and no kana is of half width", () => {
  assert.match("過去 24 時間", SPACED);
  assert.match("`残り ${number(n)}台`", SPACED);
  assert.doesNotMatch("過去24時間、UTF-8 ではない", SPACED);
  const lines = filesIn("lib/words/ja").flatMap((file) =>
    sourceOf(file)
      .split("\n")
      .map((line) => `${file}: ${line.trim()}`),
  );

  assert.ok(lines.length > 1000);
  assert.deepEqual(
    lines.filter((line) => SPACED.test(line) || /[\uff61-\uff9f]/.test(line)),
    [],
  );
});
