"""Sentences for people: each is a code with its facts, and its English is made of both.

A noun keeps its sentences in one `Phrases`: a function whose name is the code, whose arguments are the facts, and whose
answer is the English. So code and English cannot differ, and a reader of another language makes its own words. The
facts are JSON values: times as RFC 3339 texts, durations in seconds, counts, names, words of `vocabulary`.
"""

from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import wraps
from inspect import signature
from typing import Any, Final, ParamSpec

from msgspec import Struct

from shared.words import reader
from shared.words.sentences import Sentence

P = ParamSpec("P")
UNREADABLE: Final = (TypeError, KeyError, ValueError, AttributeError)
"""What a phrase raises for facts that are not its own."""


class Coded(Struct, frozen=True):
    """A sentence without its English."""

    code: str
    params: dict[str, Any]


class Phrased(Struct, frozen=True):
    """A sentence, or several that are always told together."""

    english: str
    coded: tuple[Coded, ...] | None
    """None: older code stored the English only."""


def named(by: str | None) -> str:
    """Somebody of the audit log, as sentences say it: `user:anna` is anna, `token:scripts#a1b2` is scripts."""
    if by is None:
        return "somebody"
    kind, _, name = by.partition(":")
    match kind:
        case "user":
            return name
        case "token":
            return name.rpartition("#")[0] or name
        case "display" | "service":
            return f"the {kind}"
        case _:
            return by


class Phrases:
    """The sentences of a noun, and those of the nouns that it repeats."""

    def __init__(self, *others: "Phrases") -> None:
        self.makers: ChainMap[str, Callable[..., str]] = ChainMap({}, *(other.makers for other in others))
        """Code -> what makes its English."""

    @property
    def codes(self) -> list[str]:
        """The code of each sentence, sorted."""
        return sorted(self.makers)

    @property
    def params(self) -> dict[str, list[str]]:
        """The names of the facts of each sentence, by code."""
        return {code: self.params_of(code) for code in self.codes}

    def params_of(self, code: str) -> list[str]:
        """The names of the facts of one sentence."""
        return list(signature(self.makers[code]).parameters)

    def phrase(self, english: Callable[P, str]) -> Callable[P, Phrased]:
        """Make a phrase of a function that has arguments by name only."""
        code = english.__name__
        self.makers[code] = english

        @wraps(english)
        def say(*args: P.args, **params: P.kwargs) -> Phrased:
            return Phrased(english(*args, **params), (Coded(code, dict(params)),))

        return say

    def english(self, coded: Iterable[Coded]) -> str:
        """The English of these sentences. Raises UNREADABLE for facts or a code that are not known here."""
        return " ".join(self.makers[one.code](**one.params) for one in coded)

    def stored(self, english: str, coded: Sequence[Coded] | None) -> Phrased:
        """A sentence that was stored, with its code only if that still makes this English.

        It does not after older code replaced the English alone, or when newer code stored it.
        """
        try:
            agrees = coded is not None and self.english(coded) == english
        except UNREADABLE:
            agrees = False
        return Phrased(english, tuple(coded) if coded and agrees else None)


def bridged(sentence: Sentence) -> Phrased:
    """A sentence of a noun that has its words in `shared/words/`, for one that has not: in English alone."""
    return plain(reader.english(sentence))


def plain(english: str) -> Phrased:
    """A sentence without a code."""
    return Phrased(english, None)


def joined(sentences: Iterable[Phrased]) -> Phrased:
    """These sentences as one text; without a code if one of them has none."""
    parts = list(sentences)
    coded = [one.coded for one in parts]
    english = " ".join(one.english for one in parts)
    return Phrased(english, None if None in coded else tuple(one for some in coded for one in some or ()))


def moment(at: datetime) -> str:
    """A time as a fact of a sentence."""
    return at.isoformat()


def in_code(sentence: Phrased) -> list[Coded] | None:
    """The codes and facts of a sentence, to store or to send; None for a sentence that has none."""
    return None if sentence.coded is None else list(sentence.coded)
