"""The outcome of a part of a batch is added to that of the whole, field by field."""

from typing import Any, Final

import pytest
from msgspec.structs import asdict

from bridge.storing import BatchOutcome

OF_THE_WHOLE: Final = {"dropped_logs", "deferred_logs", "drop_rows", "signs"}
"""What `bridge.writes` sets once for the whole batch."""
NEVER: Final = {"cursor"}
"""The changes up to this cursor were forgotten in the part's own memory only."""


def sample(empty: Any, number: int) -> Any:
    """A value that a field with this default may have, another one for each number."""
    match empty:
        case int():
            return number
        case list() | set():
            return type(empty)([number])
        case dict():
            return {number: number}
        case _:
            return f"{number}"


def together(first: Any, second: Any) -> Any:
    match first:
        case int() | list():
            return first + second
        case set() | dict():
            return first | second
        case _:
            return second


@pytest.mark.parametrize("name", BatchOutcome.__struct_fields__)
def test_a_part_adds_each_field_to_the_whole_or_the_field_is_named_here(name: str) -> None:
    empty = getattr(BatchOutcome(), name)
    whole, part = BatchOutcome(**{name: sample(empty, 1)}), BatchOutcome(**{name: sample(empty, 2)})

    whole.absorb(part)

    first = sample(empty, 1)
    assert getattr(whole, name) == (first if name in OF_THE_WHOLE | NEVER else together(first, sample(empty, 2)))


def test_a_part_that_tells_nothing_takes_nothing_away() -> None:
    whole = BatchOutcome(**{name: sample(getattr(BatchOutcome(), name), 1) for name in BatchOutcome.__struct_fields__})
    before = asdict(whole)

    whole.absorb(BatchOutcome())

    assert asdict(whole) == before
