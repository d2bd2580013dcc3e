"""A long outage has two log lines, at its beginning and at its end, without a traceback."""

import json
import logging
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any, cast

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from shared.postgres.door import is_away
from shared.structured_log import JsonFormatter, Outage


@pytest.fixture
def lines() -> Iterator[StringIO]:
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("signage")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield stream
    logger.removeHandler(handler)


def test_however_often_it_is_asked_for_there_is_one_line_at_each_end(lines: StringIO) -> None:
    outage = Outage("database")
    outage.over()
    for _ in range(50):
        outage.began(OSError("refused"))
    outage.over()
    outage.over()
    outage.began(TimeoutError())

    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [line["event"] for line in told] == ["database_away", "database_back", "database_away"]
    assert [line["severity"] for line in told] == ["ERROR", "INFO", "ERROR"]
    assert told[0]["error"] == "OSError"
    assert told[1]["seconds"] >= 0
    assert not any("exception" in line for line in told)


class Overtaken:
    """A lock whose first user gets it last, because another one was faster."""

    def __init__(self, quicker: Callable[[], None]) -> None:
        self._quicker: Callable[[], None] | None = quicker

    def __enter__(self) -> None:
        quicker, self._quicker = self._quicker, None
        if quicker is not None:
            quicker()

    def __exit__(self, *_: object) -> None:
        """Release nothing."""


def test_of_two_who_find_it_back_at_once_one_tells(lines: StringIO) -> None:
    outage = Outage("broker")
    outage.began(OSError("refused"))
    outage._lock = cast("Any", Overtaken(outage.over))
    outage.over()

    told = [json.loads(line)["event"] for line in lines.getvalue().splitlines()]
    assert told == ["broker_away", "broker_back"]


class Said(Exception):
    """An error of Postgres as pg8000 raises it."""


def said(state: str, kind: type[DBAPIError] = DBAPIError) -> DBAPIError:
    return kind("SELECT", None, Said({"C": state}))


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (said("57P01"), True),  # shut down
        (said("53100"), True),  # disk full
        (said("40P01"), True),  # deadlock
        (said("55P03"), True),  # lock timeout
        (said("23505", IntegrityError), False),
        (said("42P01"), False),  # no such table: waiting does not help
        (OperationalError("SELECT", None, ConnectionResetError(), connection_invalidated=True), True),
        (sa.exc.TimeoutError("the pool is used up"), True),
        (OSError("no space on the media volume"), False),
        (ValueError(), False),
    ],
)
def test_only_what_passes_by_itself_is_away(error: Exception, away: bool) -> None:
    assert is_away(error) is away
