"""A message to people, and the result of one try to send it."""

import re
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from shared.words.sentences import Sentence

ENDINGS: Final = frozenset(
    {"service", "timer", "socket", "target", "path", "mount", "slice", "scope", "device", "swap", "automount"}
    | {"ppt", "pptx", "odp", "pdf", "png", "jpg", "jpeg", "webp", "gif", "mp4", "webm"}
)
"""Endings of systemd's units and of files that may be uploaded: no host's name ends so."""
_NAMES: Final = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[^\W\d_][\w-]*")
_LOOK_ALIKES: Final = str.maketrans(
    {"@": "\uff20", "<": "\uff1c", ">": "\uff1e", "[": "\uff3b", "]": "\uff3d", "`": "\u02cb", "*": "\u2217"}
)


class Result(StrEnum):
    """The result of one try."""

    DELIVERED = "delivered"
    AGAIN = "again"  # it may work later
    REFUSED = "refused"  # it will not work without a change of the channel


class DeliveryAttempt(Struct, frozen=True):
    """One try and its result."""

    result: Result
    sentence: Sentence
    """For people: "401 from hooks.example.org". Holds no secret."""
    retry_after: timedelta | None = None
    """The wait that the receiver asked for."""


class Letter(Struct, frozen=True):
    """A message for every kind of channel, as facts and as text."""

    key: str
    """The same at each try of one delivery, so that a receiver can detect repeats."""
    title: str
    text: str
    facts: Mapping[str, Any]
    """The facts for scripts."""

    @property
    def posted(self) -> dict[str, Any]:
        """The JSON of a webhook. Some chat rooms take it too: they read `title` and `text`, with markup."""
        link = self.facts.get("url")
        words = {name: as_text(said, link) for name, said in self.facts.items() if name in {"title", "text"}}
        return {**self.facts, **words}


def as_text(words: str, link: str | None = None) -> str:
    """A text without mentions, links and markup for messengers, except a last line with our own `link`.

    The words quote names from displays and uploaders. Special characters are replaced by similar ones.
    """
    return "\n".join(line if line == link else _harmless(line) for line in words.split("\n"))


def _harmless(line: str) -> str:
    return _NAMES.sub(_unlinked, line.translate(_LOOK_ALIKES)).replace("//", "\u2215\u2215")


def _unlinked(found: re.Match[str]) -> str:
    """A dotted name, unchanged if it ends like a file or unit; otherwise with other dots, so that it is no link."""
    name = found[0]
    is_ours = name.rpartition(".")[2].lower() in ENDINGS
    return name if is_ours else name.replace(".", "\u2024")
