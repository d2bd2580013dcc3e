"""Read what translators write: a small part of Fluent. What lies outside is refused with its file and line."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from fluent.syntax import FluentParser, ast
from msgspec import Struct


class How(StrEnum):
    """How a fact is put into a text."""

    AS_IT_IS = ""
    """A number gets its thousands; a list is joined as the language joins lists."""
    UNGROUPED = "NUMBER"
    """`NUMBER($status)`: a number that is a name, without thousands."""
    SMALL = "SMALL"
    """`SMALL($word)`: with a small first letter."""


class Fact(Struct, frozen=True):
    """A fact is put in."""

    name: str
    how: How = How.AS_IT_IS


class Piece(Struct, frozen=True):
    """Another message is put in; it sees the same facts."""

    name: str


class Choice(Struct, frozen=True):
    """The variant whose key is the fact, or the plural form of the fact; else the default."""

    fact: str
    variants: Mapping[str, "Pattern"]
    default: str
    """Its key, which stands among the variants."""


Pattern: TypeAlias = tuple[str | Fact | Piece | Choice, ...]


class Message(Struct, frozen=True):
    """A sentence, a label, or a piece of them."""

    name: str
    pattern: Pattern
    comment: str
    """Of the lines above it that begin with `#`."""
    line: int
    facts: Mapping[str, int]
    """The facts that it names itself, and the line of the first mention."""
    pieces: Mapping[str, int]
    """The messages that it puts in."""


class Refused(Exception):
    """The file is no Fluent, or uses more of it than the compiler knows."""

    def __init__(self, path: Path, line: int, why: str) -> None:
        super().__init__(f"{path}:{line}: {why}")


def parse(path: Path) -> dict[str, Message]:
    """The messages of a file, by name, in its order. Raises Refused."""
    return _File(path).messages()


def facts_of(name: str, messages: Mapping[str, Message]) -> dict[str, int]:
    """The facts of a message and of its pieces, with the line of the first mention. Raises KeyError: no such piece."""
    facts: dict[str, int] = {}
    for message in _with_pieces(name, messages):
        facts = dict(message.facts) | facts
    return facts


def _with_pieces(name: str, messages: Mapping[str, Message]) -> Iterator[Message]:
    waiting, seen = [name], {name}
    while waiting:
        message = messages[waiting.pop()]
        yield message
        waiting.extend(piece for piece in message.pieces if piece not in seen)
        seen.update(message.pieces)


_FUNCTIONS: Final = {"NUMBER": How.UNGROUPED, "SMALL": How.SMALL}


class _File:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.facts: dict[str, int] = {}
        self.pieces: dict[str, int] = {}

    def messages(self) -> dict[str, Message]:
        messages: dict[str, Message] = {}
        for entry in FluentParser().parse(self.text).body:
            if isinstance(entry, ast.Junk):
                where = entry.annotations[0]
                raise self.refused(where, where.message or "not understood")
            if isinstance(entry, ast.BaseComment):
                continue
            if not isinstance(entry, ast.Message) or entry.attributes or entry.value is None:
                raise self.refused(entry, "only messages with a text; no term, no attribute")
            if entry.id.name in messages:
                raise self.refused(entry, f"a second message {entry.id.name}")
            messages[entry.id.name] = self.message(entry, entry.value)
        return messages

    def message(self, entry: ast.Message, value: ast.Pattern) -> Message:
        self.facts, self.pieces = {}, {}
        comment = entry.comment.content if entry.comment else None
        return Message(entry.id.name, self.pattern(value), comment or "", self.line(entry.id), self.facts, self.pieces)

    def pattern(self, pattern: ast.Pattern) -> Pattern:
        parts: list[str | Fact | Piece | Choice] = []
        for element in pattern.elements:
            part = self.element(element)
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            elif part != "":
                parts.append(part)
        return tuple(parts)

    def element(self, element: ast.TextElement | ast.Placeable) -> str | Fact | Piece | Choice:
        if isinstance(element, ast.TextElement):
            if "\n" in element.value:
                raise self.refused(element, "a text stands on one line")
            return element.value
        match element.expression:
            case ast.StringLiteral() as literal:
                return str(literal.parse()["value"])
            case ast.VariableReference(id=name):
                return self.fact(name, How.AS_IT_IS)
            case ast.MessageReference(id=name, attribute=None):
                self.pieces.setdefault(name.name, self.line(name))
                return Piece(name.name)
            case ast.FunctionReference(
                id=ast.Identifier(name="NUMBER" | "SMALL" as function),
                arguments=ast.CallArguments(positional=[ast.VariableReference(id=name)], named=[]),
            ):
                return self.fact(name, _FUNCTIONS[function])
            case ast.SelectExpression(selector=ast.VariableReference(id=name), variants=variants):
                return self.choice(name, variants)
        raise self.refused(element, "only { $fact }, { NUMBER($n) }, { SMALL($word) }, { piece }, a text or a choice")

    def fact(self, name: ast.Identifier, how: How) -> Fact:
        self.facts.setdefault(name.name, self.line(name))
        return Fact(name.name, how)

    def choice(self, name: ast.Identifier, variants: list[ast.Variant]) -> Choice:
        self.fact(name, How.AS_IT_IS)
        keys = [v.key.name if isinstance(v.key, ast.Identifier) else v.key.value for v in variants]
        if len(set(keys)) < len(keys):
            raise self.refused(name, "two variants have the same key")
        default = next(key for key, variant in zip(keys, variants, strict=True) if variant.default)
        texts = [self.pattern(variant.value) for variant in variants]
        return Choice(name.name, dict(zip(keys, texts, strict=True)), default)

    def line(self, node: ast.SyntaxNode) -> int:
        return self.text.count("\n", 0, node.span.start if node.span else 0) + 1

    def refused(self, node: ast.SyntaxNode, why: str) -> Refused:
        return Refused(self.path, self.line(node), why)
