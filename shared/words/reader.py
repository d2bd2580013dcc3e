"""Say sentences in a language, from the tables that `compiler` makes of what translators write."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

from shared.words.facts import Divide
from shared.words.languages import ENGLISH, LANGUAGES
from shared.words.sentences import DECLARED, Sentence

Pattern: TypeAlias = str | list[Any]
"""A text, or parts: a text; [0, fact]; [1, fact], without thousands; [2, fact], with a small first letter; [3, piece];
[4, fact, variants, default]."""
FACT, UNGROUPED, SMALL, PIECE, CHOICE = range(5)
COMPILED: Final = Path(__file__).with_name("compiled")
_EMPTY: Final[tuple[Any, ...]] = ("", [])


class Catalogue:
    """The words of a language."""

    def __init__(self, language: str, patterns: Mapping[str, Pattern]) -> None:
        self.rules, self.patterns = LANGUAGES[language], patterns

    def say(self, sentence: Sentence) -> str:
        """The text of a sentence. Of one whose code or facts only newer code understands it is the code."""
        try:
            return self._put(self.patterns[sentence.code], self._facts(sentence))
        except (AttributeError, KeyError, TypeError, ValueError):
            return sentence.code

    def _facts(self, sentence: Sentence) -> dict[str, str | int]:
        facts: dict[str, str | int] = {}
        divided = _divided(sentence.code)
        for name, value in sentence.facts.items():
            facts[f"{name}_is"] = "none" if value is None else "empty" if value in _EMPTY else "some"
            if name in divided:
                facts |= divided[name](name, value)
            elif isinstance(value, bool):
                facts[name] = "yes" if value else "no"
            elif isinstance(value, list):
                between = self.rules.space if sentence.code == "in_turn" else self.rules.between
                facts[name] = between.join(map(self._text, value))
                facts[f"{name}_n"] = len(value)
            else:
                facts[name] = value if isinstance(value, int) else self._text(value)
        return facts

    def _text(self, value: Any) -> str:
        return self.say(value) if isinstance(value, Sentence) else str(value or "").strip()

    def _put(self, pattern: Pattern, facts: Mapping[str, str | int]) -> str:
        if isinstance(pattern, str):
            return pattern
        return "".join([part if isinstance(part, str) else self._part(part, facts) for part in pattern])

    def _part(self, part: list[Any], facts: Mapping[str, str | int]) -> str:
        kind, name = part[:2]
        if kind == PIECE:
            return self._put(self.patterns[name], facts)
        fact = facts.get(name, "…")  # newer code may store a sentence without it
        if kind == CHOICE:
            return self._put(self._variant(fact, *part[2:]), facts)
        if isinstance(fact, int):
            return str(fact) if kind == UNGROUPED else f"{fact:,}".replace(",", self.rules.thousands)
        return fact[:1].lower() + fact[1:] if kind == SMALL else fact

    def _variant(self, fact: str | int, variants: Mapping[str, Pattern], default: Pattern) -> Pattern:
        keys = (str(fact), self.rules.plural(fact)) if isinstance(fact, int) else (fact,)
        return next((variants[key] for key in keys if key in variants), default)


@cache
def words_of(language: str) -> Catalogue:
    """The words of one of LANGUAGES; of a language that only newer code has, those of English."""
    if language not in LANGUAGES:
        return words_of(ENGLISH)
    return Catalogue(language, json.loads((COMPILED / f"{language}.json").read_text(encoding="utf-8")))


def english(sentence: Sentence) -> str:
    """A sentence for logs, and for who named no language."""
    return words_of(ENGLISH).say(sentence)


@cache
def _divided(code: str) -> Mapping[str, Divide]:
    """The facts of a sentence that a catalogue gets in parts, each with its function."""
    hints = {name: (hint, *get_args(hint)) for name, hint in DECLARED.get(code, {}).items()}
    found = {
        name: [kind for hint in several for kind in getattr(hint, "__metadata__", ())]
        for name, several in hints.items()
    }
    return {name: kinds[0] for name, kinds in found.items() if kinds}
