"""Compile the labels of the page: `page/<module>.ftl` of each language becomes a file of `dashboard/lib/words/`.

A message `tableWords-title` is the label `title` of the export `tableWords`; more dashes are groups in groups. A
message without a dash is a piece of others. A fact is a number if it is called `n` or ends in `_n`, or is put in with
`NUMBER`; it is true or false if a choice says so. What a language lacks is English, by whole labels.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from shared.words.compiler.parse import Choice, Fact, How, Message, Pattern, Piece, facts_of, parse
from shared.words.languages import ENGLISH, LANGUAGES

WORDS: Final = Path(__file__).parents[1]
MODULES: Final = WORDS.parents[1] / "dashboard" / "lib" / "words"
LIST: Final = MODULES.parent / "language.js"
_NAMES: Final = re.compile(r"(?<=^export const LANGUAGES = )[^;]+", re.MULTILINE)

FILES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("common", "fleet", "frame", "problems", "shops", "states"), "first"),
    **dict.fromkeys(("attention", "causes", "failures", "taken"), "trouble"),
}
"""In which file labels stand together with others: what the first page asks for at once."""

Messages: TypeAlias = Mapping[str, Message]
Tree: TypeAlias = "str | dict[str, Tree]"


class Module:
    """One module of labels in all languages."""

    def __init__(self, name: str, languages: Mapping[str, Messages]) -> None:
        self.name = name
        self.languages = languages
        labels = [label for messages in languages.values() for label in messages if "-" in label]
        self.facts = {label: self._facts(label) for label in dict.fromkeys(labels)}

    def exports(self, language: str) -> dict[str, Tree]:
        """What a module of this language exports."""
        there = self.languages[language].keys() | self.languages[ENGLISH].keys()
        labels = {label: self._label(language, label) for label in self.facts if label in there}
        return _grouped(labels) or {label.split("-")[0]: {} for label in self.facts}

    def types(self) -> str:
        """What the English module exports, for `tsc`."""
        exports = _grouped({label: _type(facts) for label, facts in self.facts.items()})
        return "".join(f"export const {name}: {_typed(group)};\n" for name, group in exports.items())

    def _facts(self, label: str) -> dict[str, str]:
        """The facts of a label in any language, each with its type."""
        kinds: dict[str, str] = {}
        for messages in self.languages.values():
            if _is_whole(label, messages):
                patterns = [messages[label].pattern, *(m.pattern for m in messages.values() if "-" not in m.name)]
                used = facts_of(label, messages)
                for part in _parts(patterns):
                    name = part.fact if isinstance(part, Choice) else part.name
                    if name in used and kinds.get(name, "string") == "string":
                        kinds[name] = _kind(part, name)
        return kinds

    def _label(self, language: str, label: str) -> str:
        own = self.languages[language]
        if not _is_whole(label, own):
            language, own = ENGLISH, self.languages[ENGLISH]
        text = _text(own[label].pattern, own, language)
        return f"({{ {', '.join(self.facts[label])} }}) => {text}" if self.facts[label] else text


def javascript(file: str, language: str, modules: Sequence[Module]) -> str:
    """A file with the labels of these modules; the English one lays the reader's language over itself."""
    exports = {name: group for module in modules for name, group in module.exports(language).items()}
    body = "".join(f"export const {name} = {_object(group)};\n" for name, group in exports.items())
    up = ".." if language == ENGLISH else "../.."
    helpers = ", ".join(helper for helper in ("number", "small") if f"{helper}(" in body)
    imports = f'import {{ {helpers} }} from "{up}/format.js";\n' if helpers else ""
    if language == ENGLISH:
        imports += 'import { translate } from "../language.js";\n'
        body += f'translate("{file}", {{ {", ".join(exports)} }});\n'
    return f"{_note(language, modules)}{imports}{body}"


def _note(language: str, modules: Sequence[Module]) -> str:
    return f"// Generated from shared/words/{language}/page/{', '.join(module.name for module in modules)}.ftl\n"


def _is_whole(name: str, messages: Messages) -> bool:
    """Whether the message is there, with its pieces."""
    return name in messages and all(_is_whole(piece, messages) for piece in messages[name].pieces)


def _parts(patterns: list[Pattern]) -> Iterator[Fact | Choice]:
    for pattern in patterns:
        for part in pattern:
            if isinstance(part, Choice):
                yield part
                yield from _parts(list(part.variants.values()))
            elif isinstance(part, Fact):
                yield part


def _kind(part: Fact | Choice, name: str) -> str:
    if isinstance(part, Choice) and set(part.variants) == {"true", "false"}:
        return "boolean"
    if _counts(name) or (isinstance(part, Fact) and part.how is How.UNGROUPED):
        return "number"
    if isinstance(part, Choice) and "other" not in part.variants:
        return " | ".join(json.dumps(key) for key in part.variants)
    return "string"


def _counts(fact: str) -> bool:
    return fact == "n" or fact.endswith("_n")


def _text(pattern: Pattern, messages: Messages, language: str) -> str:
    """The pattern as a text of JavaScript."""
    parts = list(_joined(pattern, messages, language))
    if all(part.startswith('"') for part in parts):
        return json.dumps("".join(json.loads(part) for part in parts), ensure_ascii=False)
    if len(pattern) == 1 and isinstance(pattern[0], Choice):
        return parts[0]
    inner = (_escaped(json.loads(part)) if part.startswith('"') else "${" + part + "}" for part in parts)
    return f"`{''.join(inner)}`"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")


def _joined(pattern: Pattern, messages: Messages, language: str) -> Iterator[str]:
    for part in pattern:
        match part:
            case str():
                yield json.dumps(part, ensure_ascii=False)
            case Piece(name):
                yield from _joined(messages[name].pattern, messages, language)
            case Fact(name, How.SMALL):
                yield f"small({name})"
            case Fact(name, how):
                yield f"number({name})" if _counts(name) and how is How.AS_IT_IS else f"{name}"
            case Choice():
                yield _choice(part, messages, language)


def _choice(choice: Choice, messages: Messages, language: str) -> str:
    cases = ""
    for key, pattern in choice.variants.items():
        if key != choice.default:
            cases += f"{_is(choice.fact, key, language)} ? {_text(pattern, messages, language)} : "
    return cases + _text(choice.variants[choice.default], messages, language)


def _is(fact: str, key: str, language: str) -> str:
    if key in {"true", "false"}:
        return fact if key == "true" else f"!{fact}"
    if not _counts(fact):
        return f"{fact} === {json.dumps(key)}"
    return f"{fact} === {key}" if key.isdecimal() else LANGUAGES[language].forms[key][1].format(fact)


def _grouped(labels: Mapping[str, str]) -> dict[str, Tree]:
    groups: dict[str, dict[str, str]] = {}
    trees: dict[str, Tree] = {}
    for label, text in labels.items():
        first, _, rest = label.partition("-")
        if rest:
            groups.setdefault(first, {})[rest] = text
            trees[first] = {}
        else:
            trees[first] = text
    return trees | {name: _grouped(inner) for name, inner in groups.items()}


def _object(group: Tree, indent: str = "") -> str:
    if isinstance(group, str):
        return group
    lines = "".join(f"{indent}  {_key(name)}: {_object(inner, indent + '  ')},\n" for name, inner in group.items())
    return f"{{\n{lines}{indent}}}" if lines else "{}"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _type(facts: Mapping[str, str]) -> str:
    if not facts:
        return "string"
    return f"(facts: {{ {'; '.join(f'{name}: {kind}' for name, kind in facts.items())} }}) => string"


def _typed(group: Tree, indent: str = "") -> str:
    """A group whose labels are all alike may be asked for any name, which it may lack."""
    if isinstance(group, str):
        return group
    types = {name: _typed(inner, f"{indent}  ") for name, inner in group.items()}
    lines = "".join(f"{indent}  {_key(name)}: {kind};\n" for name, kind in types.items())
    alike = f" & Record<string, {next(iter(types.values()))}>" if len(set(types.values())) == 1 else ""
    return f"{{\n{lines}{indent}}}{alike}"


def compiled() -> dict[Path, str]:
    """Each generated file, and what it says."""
    names = "".join(f'  {tag}: "{language.own_name}",\n' for tag, language in LANGUAGES.items())
    files = {LIST: _NAMES.sub(f"/** @type {{const}} */ ({{\n{names}}})", LIST.read_text(encoding="utf-8"))}
    together: dict[str, list[Module]] = {}
    for english in sorted((WORDS / ENGLISH / "page").glob("*.ftl")):
        paths = {language: WORDS / language / "page" / english.name for language in LANGUAGES}
        module = Module(english.stem, {name: parse(path) if path.exists() else {} for name, path in paths.items()})
        together.setdefault(FILES.get(module.name, module.name), []).append(module)
    for file, modules in together.items():
        files[MODULES / f"{file}.d.ts"] = _note("*", modules) + "".join(module.types() for module in modules)
        for language in LANGUAGES:
            folder = MODULES if language == ENGLISH else MODULES / language
            files[folder / f"{file}.js"] = javascript(file, language, modules)
    return files
