"""Hours, pauses and masks of channels."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.notifications.channels.rules import Hours, are_on, masked
from shared.notifications.deliveries import rules
from shared.notifications.troubles.rules import bounded, plain, recovery_of_many
from shared.vocabulary import ChannelKind, RecoveryState, Weekday

WORK = Hours("Europe/Rome", frozenset({Weekday.MONDAY, Weekday.FRIDAY}), time(8), time(18))
NIGHT = Hours("Europe/Rome", frozenset({Weekday.FRIDAY}), time(22), time(6))


@pytest.mark.parametrize(
    ("hours", "at", "on"),
    [
        (None, "2026-11-22T03:00", True),
        (WORK, "2026-11-20T07:00", True),  # a Friday, 08:00 in Rome
        (WORK, "2026-11-20T06:59", False),
        (WORK, "2026-11-20T16:59", True),
        (WORK, "2026-11-20T17:00", False),
        (WORK, "2026-11-21T10:00", False),  # a Saturday
        (WORK, "2026-07-03T06:00", True),  # in summer Rome is two hours ahead of UTC
        (NIGHT, "2026-11-20T21:00", True),
        (NIGHT, "2026-11-21T04:59", True),  # Saturday, which belongs to Friday's night
        (NIGHT, "2026-11-21T05:00", False),
        (NIGHT, "2026-11-20T04:00", False),  # Friday, which belongs to Thursday's night
    ],
)
def test_at_which_hours_a_channel_tells(hours: Hours | None, at: str, on: bool) -> None:
    assert are_on(hours, datetime.fromisoformat(at).replace(tzinfo=UTC)) is on


def test_hours_of_a_zone_that_this_machine_does_not_know_are_those_of_utc() -> None:
    odd = Hours("Atlantis/Capital", frozenset(Weekday), time(8), time(9))

    assert are_on(odd, datetime(2026, 11, 20, 8, 30, tzinfo=UTC))


@given(st.integers(0, 10_000), st.none() | st.timedeltas(timedelta(), timedelta(days=9)))
def test_waits_grow_to_an_hour_and_never_beyond(attempts: int, asked: timedelta | None) -> None:
    wait = rules.wait(attempts, asked)

    assert rules.FIRST_WAIT <= wait <= rules.LONGEST_WAIT
    assert wait <= rules.wait(attempts + 1, asked)
    assert asked is None or wait >= min(asked, rules.LONGEST_WAIT)


@pytest.mark.parametrize(
    ("kind", "url", "shown"),
    [
        (
            ChannelKind.WEBHOOK,
            "https://anna:s3cret@hooks.example.org:8443/s3cret?s3cret#s3cret",
            "https://hooks.example.org:8443/…",
        ),
        (ChannelKind.WEBHOOK, "http://[::1]/s3cret", "http://[::1]/…"),
        (ChannelKind.APPRISE, "slack://s3cret/s3cret/s3cret", "slack://…"),
        (ChannelKind.APPRISE, "MAILTO://s3cret:s3cret@s3cret", "mailto://…"),
    ],
)
def test_what_may_be_shown_of_an_address(kind: ChannelKind, url: str, shown: str) -> None:
    assert masked(kind, url) == shown


@given(st.text())
def test_other_peoples_text_is_one_bounded_line(text: str) -> None:
    for made in (plain(text), bounded(text)):
        assert made.isprintable()
        assert made == made.strip()
    assert len(plain(text)) <= 100


@given(st.lists(st.sampled_from(list(RecoveryState)), min_size=1))
def test_what_recovery_does_about_many_is_a_sentence(states: list[RecoveryState]) -> None:
    said = recovery_of_many(states)

    assert said.endswith(".")
    assert said.count("×") == (0 if len(set(states)) == 1 else len(set(states)))
