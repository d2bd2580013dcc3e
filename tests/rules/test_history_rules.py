"""How long a client was in each state, and its events in words."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.history import rules
from shared.availability import segments_rules
from shared.availability.segments_rules import Change, Segment
from shared.vocabulary import ClientStatus, EventKind
from shared.words.reader import english
from shared.words.sentences import as_given

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
RUNNING, CRASHED, STALE, UNKNOWN = ClientStatus.RUNNING, ClientStatus.CRASHED, ClientStatus.STALE, ClientStatus.UNKNOWN


def ago(hours: float) -> datetime:
    return NOW - timedelta(hours=hours)


def change(hours_ago: float, was: ClientStatus, became: ClientStatus) -> Change:
    return Change(ago(hours_ago), was, became)


def test_without_a_change_the_present_state_held_all_along() -> None:
    assert segments_rules.segments([], ago(5), NOW, RUNNING) == [Segment(ago(5), NOW, RUNNING)]


def test_before_the_first_change_it_was_what_that_change_says() -> None:
    found = segments_rules.segments([change(2, CRASHED, RUNNING)], ago(5), NOW, RUNNING)

    assert found == [Segment(ago(5), ago(2), CRASHED), Segment(ago(2), NOW, RUNNING)]


def test_a_change_before_the_start_says_how_it_started() -> None:
    found = segments_rules.segments([change(9, RUNNING, STALE), change(1, STALE, RUNNING)], ago(5), NOW, RUNNING)

    assert found == [Segment(ago(5), ago(1), STALE), Segment(ago(1), NOW, RUNNING)]


def test_the_time_before_changes_that_were_left_out_is_unknown() -> None:
    found = segments_rules.segments([change(2, CRASHED, RUNNING)], ago(5), NOW, RUNNING, complete=False)

    assert [segment.status for segment in found] == [UNKNOWN, RUNNING]


def test_changes_of_one_moment_leave_no_empty_segment() -> None:
    changes = [change(3, RUNNING, CRASHED), change(3, CRASHED, RUNNING), change(1, RUNNING, STALE)]

    assert [s.status for s in segments_rules.segments(changes, ago(5), NOW, STALE)] == [RUNNING, STALE]


def test_shares_are_of_the_known_time_and_unknown_is_counted_apart() -> None:
    changes = [change(20, UNKNOWN, RUNNING), change(5, RUNNING, CRASHED)]

    window = segments_rules.window(segments_rules.segments(changes, ago(24), NOW, CRASHED), NOW, DAY)

    assert (window.known, window.unknown) == (20 * HOUR, 4 * HOUR)
    assert window.shares[RUNNING] == pytest.approx(0.75)
    assert window.shares[CRASHED] == pytest.approx(0.25)
    assert UNKNOWN not in window.shares


def test_a_young_client_has_only_its_own_time() -> None:
    window = segments_rules.window(segments_rules.segments([], ago(2), NOW, RUNNING), NOW, 7 * DAY)

    assert (window.known, window.unknown, window.shares[RUNNING]) == (2 * HOUR, timedelta(), 1.0)


def test_of_a_client_never_heard_nothing_is_known() -> None:
    window = segments_rules.window(segments_rules.segments([], ago(48), NOW, UNKNOWN), NOW, DAY)

    assert (window.known, window.unknown) == (timedelta(), DAY)
    assert set(window.shares.values()) == {0.0}


@st.composite
def histories(draw: st.DrawFn) -> list[Change]:
    """The changes of one client in order of time; each starts from the result of the previous one."""
    hours = sorted(draw(st.lists(st.floats(0, 900), max_size=30)), reverse=True)
    states = [draw(st.sampled_from(list(ClientStatus))) for _ in range(len(hours) + 1)]
    return [change(hour, was, became) for hour, was, became in zip(hours, states, states[1:], strict=False)]


@given(histories(), st.floats(1, 720))
def test_whatever_happened_the_strip_has_no_gap_and_the_time_adds_up(changes: list[Change], hours: float) -> None:
    start = ago(hours)
    present = changes[-1].became if changes else RUNNING

    strip = segments_rules.segments(changes, start, NOW, present)

    assert (strip[0].begins, strip[-1].ends) == (start, NOW)
    for before, after in pairwise(strip):
        assert before.ends == after.begins
        assert before.status is not after.status
    for length in segments_rules.WINDOWS:
        window = segments_rules.window(strip, NOW, length)
        assert window.known + window.unknown == min(length, NOW - start)
        assert sum(window.shares.values()) == pytest.approx(1.0 if window.known else 0.0)


def test_a_strip_of_a_flapping_display_is_drawn_in_slots_with_the_worst_of_each() -> None:
    minutes = [timedelta(minutes=number) for number in range(2001, 0, -1)]
    states = [CRASHED, RUNNING] * 1001
    changes = [Change(NOW - m, was, became) for m, was, became in zip(minutes, states, states[1:], strict=False)]
    strip = segments_rules.segments(changes, NOW - 2 * DAY, NOW, changes[-1].became)

    drawn = segments_rules.drawable(strip)

    assert len(strip) > segments_rules.SEGMENTS_AT_MOST
    assert len(drawn) <= segments_rules.SLOTS
    assert (drawn[0].begins, drawn[-1].ends) == (strip[0].begins, NOW)
    assert {segment.status for segment in drawn} == {CRASHED}
    assert segments_rules.drawable(strip[:9]) == strip[:9]


COMMAND = {
    "action": "restart_app",
    "state": "succeeded",
    "reason": as_given(text="black picture"),
    "outcome_reason": None,
    "requested_by": "user:anna",
    "confirmed_by": "ack",
    "late_state": "failed",
}
SILENT = as_given(text="Silent.")
TITLES: list[tuple[EventKind, dict[str, Any], str]] = [
    (EventKind.REGISTERED, {"registered_by": "enrolment"}, "Created by an enrolment code."),
    (EventKind.STATE, {"from": "running", "to": "stale", "cause": SILENT}, "Running → stale: Silent."),
    (EventKind.SERVICE_FAILED, {"unit": "player.service", "by": None}, "Service player.service failed"),
    (EventKind.SERVICE_CLEARED, {"unit": "x", "by": "user:anna"}, "Failure of x acknowledged by anna"),
    (EventKind.LOG, {"level": "error", "message": "dark"}, "Error: dark"),
    (EventKind.LOG, {"level": "error", "message": "x" * 300}, "Error: " + "x" * 199 + "…"),
    (EventKind.COMMAND, {**COMMAND, "step": "asked"}, "Restart asked for by anna (black picture)"),
    (EventKind.COMMAND, {**COMMAND, "step": "received"}, "Restart received by the display"),
    (EventKind.COMMAND, {**COMMAND, "step": "finished"}, "Restart succeeded (the display confirmed it)"),
    (
        EventKind.COMMAND,
        {**COMMAND, "step": "finished", "state": "expired", "outcome_reason": "no_ack"},
        "Restart expired: The display did not acknowledge it in time",
    ),
    (
        EventKind.COMMAND,
        {**COMMAND, "step": "finished", "state": "cancelled", "outcome_reason": "cancelled by user:bert"},
        "Restart was cancelled (cancelled by bert)",
    ),
    (
        EventKind.COMMAND,
        {**COMMAND, "step": "asked", "reason": as_given(text="Dark.")},
        "Restart asked for by anna (Dark)",
    ),
    (EventKind.COMMAND, {**COMMAND, "step": "asked", "reason": as_given(text="...")}, "Restart asked for by anna"),
    (
        EventKind.COMMAND,
        {**COMMAND, "step": "asked", "requested_by": "recovery", "reason": as_given(text="It crashed.")},
        "Restart asked for by recovery. It crashed.",
    ),
    (EventKind.COMMAND, {**COMMAND, "step": "late"}, "Restart: the display said failed after it was over"),
    (EventKind.SCREEN, {"screen": "black", "fails": True}, "The screen is black"),
    (EventKind.SCREEN, {"screen": "off", "fails": True}, "The screen is off, and nobody planned that"),
    (EventKind.SCREEN, {"screen": "off", "fails": False}, "The screen is off, which is no failure now"),
    (EventKind.SCREEN, {"screen": "ok", "fails": False}, "The screen shows its content again"),
    (EventKind.SCREEN, {"screen": "unknown", "fails": False}, "Nobody sees the screen any more"),
    (EventKind.RECOVERY, {"decision": "none", "why": as_given(text="Locked.")}, "Recovery does nothing: Locked."),
    (
        EventKind.RECOVERY,
        {"decision": "restart_app", "why": as_given(text="It crashed.")},
        "Recovery asks for a restart: It crashed.",
    ),
    (EventKind.AUDIT, {"action": "client.write", "actor": "user:anna"}, "Facts changed, by anna"),
    (EventKind.AUDIT, {"action": "something.new", "actor": "user:anna"}, "something.new, by anna"),
    (EventKind.AUDIT, {"action": "enrolment.use", "actor": "anonymous"}, "Enrolled: the display fetched its login"),
]


@pytest.mark.parametrize(("kind", "details", "title"), TITLES)
def test_an_event_is_told_in_words(kind: EventKind, details: dict[str, Any], title: str) -> None:
    assert english(rules.title(kind, details)) == title


def test_every_kind_of_event_has_words() -> None:
    assert {kind for kind, _, _ in TITLES} == set(EventKind)


def test_what_recovery_decided_is_told_with_its_reason() -> None:
    told = rules.title(EventKind.RECOVERY, {"decision": "none", "why": as_given(text="It is heard.")})

    assert english(told) == "Recovery does nothing: It is heard."
