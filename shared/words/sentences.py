"""Sentences for people as data: a code and its facts. `reader` says them in each language.

A sentence is declared in the rules of its noun; what it says stands in `<language>/<noun>.ftl` under the same name:

    @sentence
    def breaker_released(*, site: str | None, by: By) -> Sentence: ...

Facts are texts, numbers, whether something holds, words of `vocabulary`, sentences, and lists of texts or
sentences. `facts.By` and the like are types of facts that a catalogue gets in parts.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, ParamSpec, TypeAlias

P = ParamSpec("P")


class Sentence:
    """A sentence. In a row it is one jsonb, in an answer it is a text in the reader's language."""

    __slots__ = ("code", "facts")

    def __init__(self, code: str, facts: Mapping[str, "Fact"]) -> None:
        self.code, self.facts = code, facts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sentence) and (self.code, self.facts) == (other.code, other.facts)

    def __hash__(self) -> int:
        return hash(self.code)

    def __repr__(self) -> str:
        return f"{self.code}({', '.join(f'{name}={value!r}' for name, value in self.facts.items())})"


Fact: TypeAlias = str | int | Sentence | list[str] | list[Sentence] | None
DECLARED: Final[dict[str, Mapping[str, Any]]] = {}
"""The types of the facts of each sentence, by code."""


def declare(code: str, facts: Mapping[str, Any]) -> None:
    """Declare a sentence by its code and the types of its facts."""
    if code in DECLARED:
        raise TypeError(f"two sentences have the code {code}")
    DECLARED[code] = facts


def sentence(declaration: Callable[P, Sentence]) -> Callable[P, Sentence]:
    """Declare the sentence whose code is the function's name and whose facts are its arguments, given by name."""
    code = declaration.__name__
    declare(code, {name: kind for name, kind in declaration.__annotations__.items() if name != "return"})

    def make(*_: P.args, **facts: P.kwargs) -> Sentence:
        return Sentence(code, facts)  # type: ignore[arg-type]  # P does not say that each is a Fact

    return make


@sentence
def as_given(*, text: str) -> Sentence:
    """What a person or a program wrote: the same in every language."""


def given(text: str) -> Sentence | None:
    """What somebody wrote; None for nothing."""
    return as_given(text=text) if text.strip() else None


def unended(words: Sentence | None) -> Sentence | None:
    """What somebody wrote, without its full stop: another sentence goes on after it."""
    return given(str(words.facts["text"]).rstrip(" .。")) if words and words.code == "as_given" else words


@sentence
def in_turn(*, sentences: list[Sentence]) -> Sentence:
    """Sentences that are told together."""


def to_row(value: object) -> object:
    """A sentence as JSON values, for msgspec's encoder. Raises TypeError for another type."""
    if isinstance(value, Sentence):
        return {"code": value.code, "facts": value.facts}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def from_row(shape: type, value: Any) -> Any:
    """A sentence of JSON values, for msgspec's decoder. Raises ValueError for what is none."""
    if shape is not Sentence:
        raise TypeError(f"{shape.__name__} has no form in JSON")
    read = _read(value)
    if not isinstance(read, Sentence):
        raise ValueError("expected a sentence")  # noqa: TRY004 - msgspec makes a ValidationError of it
    return read


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(part) for part in value]
    if isinstance(value, dict) and value.keys() == {"code", "facts"} and isinstance(value["facts"], dict):
        return Sentence(value["code"], {name: _read(fact) for name, fact in value["facts"].items()})
    return value


def sentences_in(details: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object, with sentences where its values are some."""
    return {name: _read(value) for name, value in details.items()}


def together(sentences: Iterable[Sentence]) -> Sentence:
    """These sentences as one."""
    several = list(sentences)
    return several[0] if len(several) == 1 else in_turn(sentences=several)
