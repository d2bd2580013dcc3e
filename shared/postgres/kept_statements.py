"""Which statements one connection to Postgres keeps prepared, under which names, and how each is planned."""

import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from pg8000.core import Context
from pg8000.dbapi import convert_paramstyle

from shared.postgres.protocol import UNNAMED

MOST_KEPT: Final = 128  # statements that one connection keeps; the one used longest ago makes room
LONGEST_KEPT: Final = 16_384  # characters; longer texts are lists that never come twice alike
MOST_PARAMETERS_KEPT: Final = 64  # beyond it a text is a list of values, whose length changes each time
KEPT_VERBS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
PLAN_SECONDS: Final = 60.0  # a plan made once is made anew so often: tables grow, and not every one is analysed soon
PLANNED_ONCE: Final = "/* planned once */"
"""In a statement's text: one plan for all values. For statements that find a few rows by key whatever the values."""
Key = tuple[str, tuple[int, ...]]
"""A statement's text in `%s` spelling, and the types of its parameters where they are said."""


@dataclass(frozen=True)
class Prepared:
    """A statement that the server knows: its name there, and how its rows are read (None: it has none)."""

    name: bytes
    text: str
    planned_once: bool = False
    """Kept, and to be run with one plan for all values."""
    columns: list[dict[str, Any]] | None = None
    input_functions: list[Any] | None = None
    prepared_at: float = 0.0  # by the monotonic clock

    @property
    def is_old(self) -> bool:
        """Whether its one plan may no longer be right."""
        return self.planned_once and time.monotonic() - self.prepared_at > PLAN_SECONDS


class KeptStatements(OrderedDict[Key, Prepared]):
    """Those of one connection, the one used longest ago first."""

    def __init__(self, *, keep: bool) -> None:
        """`keep` False: none is ever kept."""
        super().__init__()
        self.closing: list[bytes] = []
        """Names that the server may forget; the next message tells it."""
        self._keep = keep
        self._named = 0

    def new(self, key: Key) -> Prepared:
        """The statement in Postgres' spelling, under a new name if it is worth keeping, else under none.

        The one used longest ago makes room for it.
        """
        text = _numbered(key[0])
        if not (self._keep and _is_worth_keeping(key[0])):
            return Prepared(UNNAMED, text)
        if len(self) >= MOST_KEPT:
            _, oldest = self.popitem(last=False)
            self.closing.append(oldest.name)
        self._named += 1
        return Prepared(b"signage_%d\x00" % self._named, text, planned_once=PLANNED_ONCE in text)

    def learn(self, key: Key, statement: Prepared, told: Context) -> None:
        """Keep a new statement, if it has a name, now that the server has told what its rows are."""
        if statement.name != UNNAMED:
            self[key] = replace(
                statement, columns=told.columns, input_functions=told.input_funcs, prepared_at=time.monotonic()
            )

    def forget(self, key: Key, statement: Prepared) -> None:
        """Never use it again. Closing one that the server never had is no error."""
        self.pop(key, None)
        if statement.name != UNNAMED:
            self.closing.append(statement.name)


@lru_cache(maxsize=512)
def _numbered(operation: str) -> str:
    """The text with `$1`, `$2` ... for each `%s`: pg8000 reads it character by character, so once is enough."""
    text: str = convert_paramstyle("format", operation, ())[0]
    return text


def _is_worth_keeping(operation: str) -> bool:
    return (
        len(operation) <= LONGEST_KEPT
        and operation.lstrip().startswith(KEPT_VERBS)
        and operation.count("%s") <= MOST_PARAMETERS_KEPT
    )
