"""What a person without an account reads about a site: states, hours, and causes that name no machine."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.status_pages import rules
from shared.availability.segments_rules import Segment
from shared.incidents import causes_rules
from shared.sentences import Coded, Phrased
from shared.vocabulary import ClientStatus, PageState

NOW = datetime(2026, 3, 10, 12, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)
RUNNING, CRASHED, UNKNOWN = ClientStatus.RUNNING, ClientStatus.CRASHED, ClientStatus.UNKNOWN


def ago(hours: float) -> datetime:
    return NOW - hours * HOUR


def strip(*steps: tuple[float, ClientStatus]) -> list[Segment]:
    """States that begin so many hours ago, each until the next."""
    edges = [*(hours for hours, _ in steps), 0]
    return [Segment(ago(edges[n]), ago(edges[n + 1]), status) for n, (_, status) in enumerate(steps)]


# --- displays ---


@pytest.mark.parametrize(
    ("status", "state", "letter"),
    [
        (ClientStatus.RUNNING, PageState.RUNNING, "r"),
        (ClientStatus.LATE, PageState.RUNNING, "r"),
        (ClientStatus.STALE, PageState.NOT_RUNNING, "n"),
        (ClientStatus.CRASHED, PageState.NOT_RUNNING, "n"),
        (ClientStatus.STARTING, PageState.NOT_RUNNING, "n"),
        (ClientStatus.STOPPED, PageState.NOT_RUNNING, "n"),
        (ClientStatus.UNKNOWN, PageState.UNKNOWN, "u"),
    ],
)
def test_each_state_of_a_display_is_told_in_one_of_three_words(
    status: ClientStatus, state: PageState, letter: str
) -> None:
    found = rules.shown("Window", strip((200, status)), [], NOW)

    assert (found.state, found.hours) == (state, letter * 168)
    assert (found.known_seconds is None) == (found.availability is not None), "a known week is not said apart"


def test_every_state_of_a_display_has_a_word() -> None:
    assert {rules.shown("Window", strip((1, status)), [], NOW).state for status in ClientStatus} == {
        PageState.RUNNING,
        PageState.NOT_RUNNING,
        PageState.UNKNOWN,
    }


def test_a_state_lasts_across_kinds_that_are_told_alike() -> None:
    found = rules.shown(
        "Window", strip((9, RUNNING), (5, CRASHED), (3, ClientStatus.STALE), (1, ClientStatus.STARTING)), [], NOW
    )

    assert (found.state, found.since) == (PageState.NOT_RUNNING, ago(5))


def test_a_screen_that_is_meant_to_be_off_is_off_whatever_its_player_does() -> None:
    found = rules.shown("Window", strip((168, CRASHED)), [(ago(30), ago(20)), (ago(2), NOW)], NOW)

    assert (found.state, found.since) == (PageState.OFF, ago(2))
    assert (found.hours.count("-"), found.hours[-2:], found.availability) == (12, "--", 0.0)


def test_a_screen_that_was_meant_to_be_off_until_an_hour_ago_is_not_off() -> None:
    assert rules.shown("Window", strip((168, RUNNING)), [(ago(3), ago(1))], NOW).state is PageState.RUNNING


def test_an_hour_shows_the_worst_of_its_states() -> None:
    found = rules.shown("Window", strip((168, RUNNING), (2.9, CRASHED), (2.8, RUNNING), (0.4, UNKNOWN)), [], NOW)

    assert found.hours == "r" * 165 + "nru"


def test_a_new_display_has_no_hours_before_it() -> None:
    found = rules.shown("Window", strip((2, RUNNING)), [], NOW)

    assert (found.hours, found.availability, found.known_seconds) == ("-" * 166 + "rr", 1.0, 7200.0)


def test_a_display_of_this_moment_is_unknown_and_has_no_share() -> None:
    found = rules.shown("Window", [], [], NOW)

    assert (found.state, found.since, found.hours, found.availability) == (PageState.UNKNOWN, NOW, "-" * 168, None)


def test_unknown_time_counts_neither_for_nor_against() -> None:
    assert rules.shown("Window", strip((168, UNKNOWN), (4, RUNNING), (1, CRASHED)), [], NOW).availability == 0.75


# --- time in which nobody judged ---


def test_a_display_is_unknown_from_when_nobody_judges_it() -> None:
    found = rules.unjudged(strip((9, RUNNING), (3, CRASHED)), ago(5), NOW)

    assert found == [Segment(ago(9), ago(5), RUNNING), Segment(ago(5), NOW, UNKNOWN)]


def test_a_display_that_came_while_nobody_judged_is_unknown_from_its_begin() -> None:
    assert rules.unjudged(strip((2, RUNNING)), ago(5), NOW) == [Segment(ago(2), NOW, UNKNOWN)]


@given(since=st.floats(0, 200), steps=st.lists(st.floats(0.1, 168), unique=True, max_size=6))
def test_the_time_in_which_nobody_judged_is_added_to_no_other(since: float, steps: list[float]) -> None:
    known = strip(*((hours, RUNNING) for hours in sorted(steps, reverse=True)))

    found = rules.unjudged(known, ago(since), NOW)

    assert all(one.ends <= ago(since) for one in found if one.status is not UNKNOWN)
    assert sum((one.ends - one.begins for one in found), timedelta()) == sum(
        (one.ends - one.begins for one in known), timedelta()
    )
    assert rules.unjudged(known, NOW, NOW) == known


# --- causes ---

FACTS: dict[str, Any] = {
    "kind": "site",
    "key": "Shop",
    "size": 12,
    "symptoms": {"silent": 8},
    "seconds": 30,
    "sites": 1,
    "unit": None,
    "place": None,
    "site": None,
    "elsewhere": False,
}
PLACE = {"kind": "subnet", "key": "10.1.2.0/24", "members": 6, "size": 7}


def told(**changed: Any) -> Phrased | None:
    """The cause of an incident with these facts, on the page of the site "Shop"."""
    cause = causes_rules.failed_together(**{**FACTS, **changed})
    return rules.told("Shop", cause.english, cause.coded)


def test_an_incident_of_the_site_is_told_with_its_numbers() -> None:
    found = told()

    assert found is not None
    assert found.english == causes_rules.failed_together(**FACTS).english


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "subnet", "key": "10.1.2.0/24"},
        {"kind": "site", "key": "Secret shop"},
        {"kind": "cluster", "key": "", "sites": 3, "size": None},
        {"kind": "cluster", "key": "", "sites": 2, "size": None, "place": PLACE},
        {
            "kind": "cluster",
            "key": "",
            "sites": 2,
            "size": None,
            "place": {"kind": "site", "key": "Secret shop", "members": 6, "size": 7},
        },
        {"kind": "site", "place": PLACE},
        {"symptoms": {"service_failed": 8}, "unit": "secret.service"},
        {"kind": "subnet", "key": "10.1.2.0/24", "symptoms": {"service_failed": 2}, "unit": "secret.service"},
    ],
)
def test_no_cause_names_a_subnet_a_service_or_another_site(changed: dict[str, Any]) -> None:
    found = told(**changed)

    assert found is not None
    for secret in ("10.1.2", "ecret", "sites"):
        assert secret not in found.english
    assert "10.1.2" not in str(found.coded)
    assert "ecret" not in str(found.coded)


@pytest.mark.parametrize("unit", ["black", "frozen", "disconnected", "off"])
def test_what_screens_did_is_told(unit: str) -> None:
    changed = {"symptoms": {"screen_failed": 8}, "unit": unit}
    found = told(**changed)

    assert found is not None
    assert found.english == causes_rules.failed_together(**{**FACTS, **changed}).english


def test_that_the_fleet_is_not_heard_and_that_others_failed_is_told() -> None:
    unheard, others = causes_rules.why_unheard(NOW), causes_rules.other_sites_too()

    assert [rules.told("Shop", one.english, one.coded) for one in (unheard, others)] == [unheard, others]


@pytest.mark.parametrize(
    ("english", "coded"),
    [
        ("All of 10.1.2.0/24 went silent.", None),
        ("All of 10.1.2.0/24 went silent.", []),
        ("nuc-17 caught fire.", [Coded("of_a_later_version", {"host": "nuc-17"})]),
        ("nuc-17", [Coded("failed_together", {"kind": "site"})]),
        ("nuc-17", [Coded("failed_together", {**FACTS, "symptoms": 4})]),
        ("nuc-17", [Coded("other_sites_too", {}), Coded("other_sites_too", {})]),
    ],
)
def test_a_cause_that_is_not_understood_is_not_told(english: str, coded: list[Coded] | None) -> None:
    assert rules.told("Shop", english, coded) is None


# --- guessing ---


def test_all_addresses_of_a_host_share_one_counter_of_invalid_links() -> None:
    [one], [same], [other] = (rules.counters(at) for at in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"))

    assert one == same
    assert one.bucket != other.bucket


def test_a_counter_of_invalid_links_is_not_one_of_sign_ins() -> None:
    [counter] = rules.counters("192.0.2.1")

    assert (counter.bucket, counter.allowed) == ("status:192.0.2.1", 5)
