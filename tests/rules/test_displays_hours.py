"""Opening hours as displays keep them say the same as those of quiet times, also when the clocks change."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from displays.client import hours as of_displays
from shared.clients import hours_rules as of_clients
from shared.errors import QuietTimesRefused
from shared.quiet import hours_rules, rules
from shared.quiet.displays_rules import kept_by_displays
from shared.quiet.hours_rules import Span
from shared.quiet.rules import WantedQuietTime
from shared.vocabulary import QuietPreset, QuietScope, Weekday

CLOCKS = ("00:00", "02:30", "03:00", "09:00", "18:45", "23:59")
SATURDAY_BEFORE_SUMMER = datetime(2026, 3, 28, tzinfo=UTC)
SATURDAY_BEFORE_WINTER = datetime(2026, 10, 24, tzinfo=UTC)
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    days = draw(st.lists(st.sampled_from(list(Weekday)), min_size=1, max_size=7, unique=True))
    begins, ends = draw(st.sampled_from(CLOCKS)), draw(st.sampled_from((*CLOCKS, hours_rules.MIDNIGHT)))
    fewest = int(hours_rules.clock(ends) <= hours_rules.clock(begins))
    return hours_rules.span(days, begins, ends, draw(st.integers(fewest, 3)))


@given(
    st.lists(spans(), min_size=1, max_size=3),
    st.sampled_from(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]),
    st.sampled_from([SATURDAY_BEFORE_SUMMER, SATURDAY_BEFORE_WINTER, NOW]),
    st.integers(0, 4 * 24 * 60),
)
def test_a_display_is_open_when_its_shop_is(some: list[Span], zone: str, day: datetime, minutes: int) -> None:
    now = day + timedelta(minutes=minutes)
    sent = json.loads(of_clients.message("x", of_clients.document(kept_by_displays(some, zone))))["hours"]

    is_open = any(one.holds(now) for one in hours_rules.around(tuple(some), zone, now, outside=False))

    assert of_displays.is_open(of_displays.hours_of(sent), now) is is_open


def wanted(*some: Span) -> WantedQuietTime:
    place = (QuietScope.SITE, "Rome", None, ())
    what = rules.MAKES_QUIET[QuietPreset.OPENING_HOURS]
    return WantedQuietTime(QuietPreset.OPENING_HOURS, what, *place, NOW, None, tuple(some), "Europe/Rome", "")


def test_a_whole_day_from_morning_to_morning_becomes_two_times() -> None:
    week = hours_rules.span(Weekday, "06:00", "06:00", None)

    kept = kept_by_displays([week], "Europe/Rome")

    assert [(one.opens, one.until) for one in kept.open] == [("00:00", "06:00"), ("06:00", "24:00")]
    of_clients.check(kept)


def test_opening_hours_that_no_display_can_keep_are_refused() -> None:
    to_the_second = hours_rules.span([Weekday.MONDAY], "09:00:30", "18:00", None)
    many = [
        hours_rules.span([Weekday.MONDAY], f"{hour:02}:{half}", "23:59", None)
        for hour in range(11)
        for half in (10, 40)
    ]

    for refused in ([to_the_second], many):
        with pytest.raises(QuietTimesRefused, match="Opening hours"):
            rules.checked(wanted(*refused), NOW)
    assert rules.checked(wanted(*many[:20]), NOW).spans == tuple(many[:20])
