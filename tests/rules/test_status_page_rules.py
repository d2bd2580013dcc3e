"""What a person without an account reads about a site: states, hours, and causes that name no machine."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.status_pages import rules
from shared.availability.segments_rules import Segment
from shared.incidents import causes_rules
from shared.incidents.causes_rules import Facts, Place
from shared.vocabulary import ClientStatus, IncidentKind, PageState, Symptom
from shared.words.reader import english
from shared.words.sentences import Sentence, as_given, together

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

SILENT = {Symptom.SILENT: 8}


def caused(kind: IncidentKind = IncidentKind.SITE, key: str = "Shop", **changed: Any) -> Sentence:
    """The cause of an incident with these facts."""
    facts = {"size": 12, "symptoms": SILENT, "sites": 1, "unit": None, **changed}
    last_failed_at = NOW + timedelta(seconds=30)
    return causes_rules.cause(Facts(kind, key, first_failed_at=NOW, last_failed_at=last_failed_at, **facts))


def test_an_incident_of_the_site_is_told_with_its_numbers() -> None:
    assert rules.told("Shop", caused()) == caused()


@pytest.mark.parametrize(
    "cause",
    [
        caused(IncidentKind.SUBNET, "10.1.2.0/24"),
        caused(IncidentKind.SUBNET, "10.1.2.0/24", site="Secret shop"),
        caused(key="Secret shop"),
        caused(IncidentKind.CLUSTER, "", sites=3, size=None),
        caused(IncidentKind.CLUSTER, "", sites=2, place=Place(IncidentKind.SUBNET, "10.1.2.0/24", 6, 7)),
        caused(IncidentKind.CLUSTER, "", sites=2, place=Place(IncidentKind.SITE, "Secret shop", 6, 7)),
        caused(symptoms={Symptom.SERVICE_FAILED: 8}, unit="secret.service"),
        caused(IncidentKind.SUBNET, "10.1.2.0/24", symptoms={Symptom.SERVICE_FAILED: 2}, unit="secret.service"),
    ],
)
def test_no_cause_names_a_subnet_a_service_or_another_site(cause: Sentence) -> None:
    told = rules.told("Shop", cause)

    assert told is not None
    for secret in ("10.1.2", "ecret", " sites"):
        assert secret not in english(told)
    assert "10.1.2" not in repr(told)
    assert "ecret" not in repr(told)


@pytest.mark.parametrize("unit", ["black", "frozen", "disconnected", "off"])
def test_what_screens_did_is_told(unit: str) -> None:
    cause = caused(symptoms={Symptom.SCREEN_FAILED: 8}, unit=unit)

    assert rules.told("Shop", cause) == cause


def test_that_the_fleet_is_not_heard_and_that_others_failed_is_told() -> None:
    unheard, others = causes_rules.why_unheard(NOW), causes_rules.other_sites_too()

    assert [rules.told("Shop", one) for one in (unheard, others)] == [unheard, others]


@pytest.mark.parametrize(
    "cause",
    [
        as_given(text="All of 10.1.2.0/24 went silent."),
        Sentence("of_a_later_version", {"host": "nuc-17"}),
        Sentence("failed_together", {"kind": "site"}),
        Sentence("failed_together", {**caused().facts, "host": "nuc-17"}),
        together([causes_rules.other_sites_too(), as_given(text="It was nuc-17.")]),
    ],
)
def test_a_cause_that_is_not_understood_is_not_told(cause: Sentence) -> None:
    assert rules.told("Shop", cause) is None


# --- guessing ---


def test_all_addresses_of_a_host_share_one_counter_of_invalid_links() -> None:
    [one], [same], [other] = (rules.counters(at) for at in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"))

    assert one == same
    assert one.bucket != other.bucket


def test_a_counter_of_invalid_links_is_not_one_of_sign_ins() -> None:
    [counter] = rules.counters("192.0.2.1")

    assert (counter.bucket, counter.allowed) == ("status:192.0.2.1", 5)
