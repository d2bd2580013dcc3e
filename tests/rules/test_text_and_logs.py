"""The texts that may reach Postgres, and the form of log lines."""

import io
import json
import logging

import pytest

from shared import structured_log
from shared.postgres.door import scrub

CASES = [
    ("plain", "plain"),
    ("a\x00b", "a\ufffdb"),
    ("lone \ud800 surrogate", "lone \ufffd surrogate"),
    ("\udfff", "\ufffd"),
    ("emoji \U0001f600 stays", "emoji \U0001f600 stays"),
]


@pytest.mark.parametrize(("given", "stored"), CASES)
def test_what_postgres_cannot_hold_becomes_the_replacement_character(given: str, stored: str) -> None:
    assert scrub(given) == stored


def test_one_event_is_one_json_object_whatever_the_values_hold() -> None:
    stream = io.StringIO()
    before = logging.getLogger().handlers[:]
    try:
        structured_log.configure("test", stream)
        structured_log.event("thing_seen", "a thing was seen", name="two\nlines \x1b[31m\u202e", client_uuid="u")
    finally:
        logging.getLogger().handlers[:] = before

    lines = stream.getvalue().splitlines()
    seen = json.loads(lines[-1])
    assert len(lines) == 2
    assert seen["event"] == "thing_seen"
    assert seen["name"] == "two\nlines \x1b[31m\u202e"
    assert "\x1b" not in lines[-1]
