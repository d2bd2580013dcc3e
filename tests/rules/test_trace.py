"""A trace context is accepted as the standard defines it, or a new one is made."""

import pytest

from shared import trace

GIVEN = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_callers_trace_is_kept_as_it_is_and_its_id_is_what_people_search_for() -> None:
    assert trace.read(GIVEN) == GIVEN
    assert trace.trace_id(GIVEN) == "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (None, "none was sent"),
        ("", "nothing in it"),
        (GIVEN.upper(), "upper case"),
        (GIVEN.replace("00-", "01-", 1), "a version that we do not know"),
        ("00-" + "0" * 32 + "-00f067aa0ba902b7-01", "the trace id that means none"),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-" + "0" * 16 + "-01", "the parent that means none"),
        (GIVEN + "\n", "a line's end, which would end a log line elsewhere"),
        (GIVEN + "-more", "more than the version has"),
    ],
)
def test_what_the_standard_does_not_allow_is_as_good_as_none(given: str | None, why: str) -> None:
    assert trace.read(given) is None, why
    assert trace.trace_id(given) is None, why


def test_a_new_trace_is_valid_and_another_one_each_time() -> None:
    first, second = trace.begin(), trace.begin()

    assert trace.read(first) == first
    assert trace.trace_id(first) != trace.trace_id(second)
