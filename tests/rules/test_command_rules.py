"""The moves of a command and their consequences, without a database."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.commands import rules
from shared.commands.rules import Ack, AckedCommand, Attempt, CommandRequest, DueCommand, Target, Timings
from shared.errors import ClientNotFound, CommandInFlight, CommandLockedOut, NotCapable, Refused
from shared.vocabulary import COMMAND_RANKS, TERMINAL_RANK, CommandAction, CommandState, ConfirmedBy
from shared.words.sentences import as_given

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TIMINGS = Timings(
    ttl=dict.fromkeys(CommandAction, timedelta(seconds=60)),
    result=dict.fromkeys(CommandAction, timedelta(seconds=120)),
    lockout=timedelta(seconds=600),
)
QUEUED, SENT, RECEIVED, RUNNING = CommandState.QUEUED, CommandState.SENT, CommandState.RECEIVED, CommandState.RUNNING

LEGAL = [  # (move, the states in which it may start), as in the contract's table
    (rules.SENT, {QUEUED}),
    (rules.RECEIVED, {QUEUED, SENT}),
    (rules.RUNNING, {QUEUED, SENT, RECEIVED}),
    (rules.SUCCEEDED, {QUEUED, SENT, RECEIVED, RUNNING}),
    (rules.FAILED, {QUEUED, SENT, RECEIVED, RUNNING}),
    (rules.REJECTED, {QUEUED, SENT, RECEIVED, RUNNING}),
    (rules.DENIED, {QUEUED}),  # an earlier accepted publish may have arrived
    (rules.DISPROVED, {RUNNING}),
    (rules.EXPIRED, {QUEUED, SENT}),  # rank < 30
    (rules.TIMED_OUT, {RECEIVED, RUNNING}),  # rank 30 to 40
    (rules.CANCELLED, {QUEUED}),
]


@pytest.mark.parametrize(("move", "sources"), LEGAL, ids=lambda value: getattr(value, "to", ""))
def test_a_move_may_leave_exactly_the_states_of_the_contract(move: rules.Move, sources: set[CommandState]) -> None:
    assert move.sources == sources


def test_the_table_of_moves_is_whole() -> None:
    assert [move for move, _ in LEGAL] == list(rules.MOVES)
    assert {move.to for move in rules.MOVES} == set(CommandState) - {QUEUED}


@pytest.mark.parametrize("move", rules.MOVES, ids=lambda move: move.to)
def test_moves_go_up_only_and_nothing_leaves_a_terminal_state(move: rules.Move) -> None:
    assert all(COMMAND_RANKS[source] < COMMAND_RANKS[move.to] for source in move.sources)
    assert all(COMMAND_RANKS[source] < TERMINAL_RANK for source in move.sources)


def request(**more: Any) -> CommandRequest:
    return CommandRequest(**{"client_uuid": "u", "action": CommandAction.RESTART_APP, "requested_by": "anna", **more})


def target(**more: Any) -> Target:
    nothing = {"open_command_id": None, "open_screenshot_id": None, "capabilities": None, "lockout_until": None}
    return Target(**{"uuid": "u", **nothing, **more})


SCREENSHOT = request(action=CommandAction.SCREENSHOT)


REFUSALS: list[tuple[CommandRequest, Target | None, type[Exception], str]] = [
    (request(), None, ClientNotFound, "there is no such client"),
    (request(), target(open_command_id="c"), CommandInFlight, "one open command a client"),
    (SCREENSHOT, target(open_screenshot_id="c", capabilities=["screenshot"]), CommandInFlight, "one open screenshot"),
    (
        request(),
        target(open_command_id="c", lockout_until=NOW + timedelta(seconds=1), capabilities=[]),
        CommandInFlight,
        "in flight is checked first",
    ),
    (request(), target(capabilities=["reboot_host"]), NotCapable, "the display cannot do it"),
    (request(), target(lockout_until=NOW + timedelta(seconds=1)), CommandLockedOut, "the lockout stands"),
    (
        request(action=CommandAction.REBOOT_HOST),
        target(lockout_until=NOW + timedelta(seconds=1)),
        CommandLockedOut,
        "restart and reboot share it",
    ),
]


@pytest.mark.parametrize(("wanted", "found", "error", "note"), REFUSALS, ids=lambda value: str(value)[:30])
def test_a_command_is_refused_by_name(
    wanted: CommandRequest, found: Target | None, error: type[Exception], note: str
) -> None:
    assert type(rules.refusal(wanted, found, NOW)) is error


ALLOWED = [
    (request(), target(open_screenshot_id="c"), "a screenshot lets others begin"),
    (SCREENSHOT, target(open_command_id="c", capabilities=["screenshot"]), "a screenshot begins beside another"),
    (request(), target(), "nothing stands against it"),
    (request(), target(capabilities=["restart_app"]), "the display can do it"),
    (request(), target(lockout_until=NOW), "the lockout ends at this very moment"),
    (request(override_lockout=True), target(lockout_until=NOW + timedelta(hours=1)), "overridden"),
    (
        request(action=CommandAction.SHUTDOWN_HOST),
        target(lockout_until=NOW + timedelta(hours=1)),
        "shutdown_host neither raises the lockout nor heeds it",
    ),
]


@pytest.mark.parametrize(("wanted", "found", "note"), ALLOWED, ids=lambda value: str(value)[:30])
def test_a_command_is_allowed(wanted: CommandRequest, found: Target, note: str) -> None:
    assert rules.refusal(wanted, found, NOW) is None


@pytest.mark.parametrize("seconds", [9.999, 86_400.001, 0, -1])
def test_a_time_to_live_out_of_bounds_is_refused(seconds: float) -> None:
    with pytest.raises(Refused):
        rules.lifetime(request(ttl=timedelta(seconds=seconds)), TIMINGS)


@pytest.mark.parametrize("seconds", [10, 86_400])
def test_the_bounds_of_the_time_to_live_are_allowed(seconds: int) -> None:
    assert rules.lifetime(request(ttl=timedelta(seconds=seconds)), TIMINGS) == timedelta(seconds=seconds)


def test_without_a_time_to_live_the_actions_own_is_taken() -> None:
    assert rules.lifetime(request(), TIMINGS) == timedelta(seconds=60)


TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_the_message_has_the_contracts_fields_and_fits() -> None:
    due = DueCommand(
        id="c" * 36,
        client_uuid="u",
        action=CommandAction.RESTART_APP,
        if_boot_id="b" * 128,
        if_app_instance=None,
        created_at=NOW,
        expires_at=NOW.astimezone(),
        publish_lease_until=NOW,
        publish_attempts=1,
        traceparent=TRACEPARENT,
    )

    body = json.loads(rules.payload(due))

    assert body == {
        "v": 1,
        "id": "c" * 36,
        "action": "restart_app",
        "if_boot_id": "b" * 128,
        "if_app_instance": None,
        "expires_at": "2026-03-01T12:00:00.000Z",
        "traceparent": TRACEPARENT,
    }
    assert len(rules.payload(due)) <= 1024


def attempt(number: int, answer: int | None) -> Attempt:
    return Attempt("c", NOW, number, answer, may_have_left=answer is not None)


@pytest.mark.parametrize("answer", [0x00, 0x10])
def test_an_answered_publish_is_repeated_every_30_seconds(answer: int) -> None:
    assert rules.next_publish_after(attempt(7, answer), 0.9) == timedelta(seconds=30)


@given(number=st.integers(1, 10_000), jitter=st.floats(0, 1), answer=st.sampled_from([None, 0x80, 0x97]))
def test_the_back_off_grows_to_a_bound_and_is_never_none(number: int, jitter: float, answer: int | None) -> None:
    wait = rules.next_publish_after(attempt(number, answer), jitter)

    assert timedelta(seconds=0.5) <= wait <= rules.LONGEST_BACK_OFF * 1.5
    assert rules.next_publish_after(attempt(number + 1, answer), jitter) >= wait


MATTERS = [  # state, late_state, confirmed_by, ACK, whether the ACK could change something
    (SENT, None, None, RECEIVED, True, "the first word"),
    (RECEIVED, None, None, RECEIVED, False, "a repeat"),
    (RUNNING, None, None, RECEIVED, False, "out of order"),
    (RUNNING, None, None, CommandState.FAILED, True, "a result"),
    (CommandState.EXPIRED, None, None, RECEIVED, False, "a late word is no result"),
    (CommandState.EXPIRED, None, None, CommandState.SUCCEEDED, True, "a late result is kept"),
    (CommandState.TIMED_OUT, CommandState.FAILED, None, CommandState.SUCCEEDED, False, "once"),
    (CommandState.SUCCEEDED, None, ConfirmedBy.EVIDENCE, CommandState.SUCCEEDED, True, "now known by both"),
    (CommandState.SUCCEEDED, None, ConfirmedBy.ACK, CommandState.SUCCEEDED, False, "a repeat"),
    (CommandState.SUCCEEDED, None, ConfirmedBy.EVIDENCE, CommandState.FAILED, False, "an end is an end"),
    (CommandState.CANCELLED, None, None, CommandState.SUCCEEDED, False, "an end is an end"),
]


@pytest.mark.parametrize(("state", "late", "confirmed", "said", "matters", "note"), MATTERS)
def test_an_ack_matters_or_not(
    state: CommandState,
    late: CommandState | None,
    confirmed: ConfirmedBy | None,
    said: CommandState,
    matters: bool,
    note: str,
) -> None:
    known = AckedCommand("c", "u", state, late, confirmed, None, None, "restart_app")

    assert rules.may_matter(Ack("u", "c", said), known) is matters


@pytest.mark.parametrize(
    ("state", "said", "reason", "known", "matters"),
    [
        (CommandState.FAILED, CommandState.FAILED, "no_player", None, True),
        (CommandState.FAILED, CommandState.FAILED, "no_player", "no_player", False),
        (CommandState.FAILED, CommandState.FAILED, None, None, False),
        (CommandState.FAILED, CommandState.REJECTED, "busy", None, False),
        (CommandState.REJECTED, CommandState.REJECTED, "busy", None, True),
    ],
)
def test_a_reason_matters_where_the_same_result_came_without_one(
    state: CommandState, said: CommandState, reason: str | None, known: str | None, matters: bool
) -> None:
    stored = AckedCommand("c", "u", state, None, None, known, None, "restart_app")

    assert rules.may_matter(Ack("u", "c", said, reason), stored) is matters


def test_of_two_results_in_one_batch_the_first_counts() -> None:
    acks = [Ack("u", "c", s) for s in (RECEIVED, CommandState.FAILED, CommandState.SUCCEEDED)]

    assert rules.first_result_each(acks) == [acks[1]]


@pytest.mark.parametrize(
    ("action", "boot", "start", "is_proven_otherwise"),
    [
        ("reboot_host", "b", None, True),
        ("shutdown_host", "b", None, True),
        ("restart_app", "b", "a", True),
        ("reboot_host", None, None, False),
        ("shutdown_host", None, None, False),
        ("restart_app", "b", None, False),
        ("screenshot", "b", None, False),
    ],
)
def test_a_word_ends_no_command_whose_effect_the_heartbeats_show(
    action: str, boot: str | None, start: str | None, is_proven_otherwise: bool
) -> None:
    known = AckedCommand("c", "u", CommandState.RUNNING, None, None, None, None, action, boot, start)
    word = Ack("u", "c", CommandState.SUCCEEDED, boot_id="new", app_instance="new")

    weighed = rules.as_proof_allows(word, known)

    assert weighed == (Ack("u", "c", CommandState.RUNNING) if is_proven_otherwise else word)


@pytest.mark.parametrize(
    ("state", "boot", "start", "seconds", "too_soon"),
    [
        (CommandState.SENT, None, None, 0, True),
        (CommandState.SENT, None, None, 19.9, True),
        (CommandState.SENT, None, None, 20, False),  # the ACKs are lost
        (CommandState.SENT, None, None, None, True),
        (CommandState.EXPIRED, None, None, 0, False),
        (CommandState.RECEIVED, None, None, 0, False),
        (CommandState.SENT, "b", "a", 0, False),
    ],
)
def test_a_success_in_a_report_waits_for_acks_that_may_be_under_way(
    state: CommandState, boot: str | None, start: str | None, seconds: float | None, too_soon: bool
) -> None:
    due = None if seconds is None else NOW - timedelta(seconds=seconds)
    known = AckedCommand("c", "u", state, None, None, None, None, "restart_app", "b", "a", due)
    ack = Ack("u", "c", CommandState.SUCCEEDED, boot_id=boot, app_instance=start)

    assert rules.comes_too_soon(ack, known, NOW) is too_soon


def test_of_the_same_result_twice_in_one_batch_the_one_with_a_reason_counts() -> None:
    acks = [Ack("u", "c", CommandState.FAILED), Ack("u", "c", CommandState.FAILED, "no_player")]

    assert rules.first_result_each(acks) == rules.first_result_each(acks[::-1]) == [acks[1]]


@pytest.mark.parametrize(
    ("action", "state", "counts_as", "note"),
    [
        ("screen_off", CommandState.RUNNING, CommandState.RUNNING, "the screen must show it"),
        ("screen_on", CommandState.SENT, CommandState.RUNNING, "the screen must show it"),
        ("screen_off", CommandState.SUCCEEDED, CommandState.SUCCEEDED, "the screen has shown it: now known by both"),
        ("screen_off", CommandState.TIMED_OUT, CommandState.SUCCEEDED, "a late word is kept as it came"),
        ("restart_app", CommandState.RUNNING, CommandState.SUCCEEDED, "an ACK ends it"),
    ],
)
def test_a_word_alone_switches_no_screen(action: str, state: CommandState, counts_as: CommandState, note: str) -> None:
    known = AckedCommand("c", "u", state, None, None, None, None, action)

    assert rules.as_proof_allows(Ack("u", "c", CommandState.SUCCEEDED), known).state is counts_as
    assert rules.as_proof_allows(Ack("u", "c", CommandState.FAILED, "no"), known) == Ack(
        "u", "c", CommandState.FAILED, "no"
    )


@pytest.mark.parametrize("by", ["user:ada", "token:night: shop 12#5ac56b06cb64", "bert"])
@pytest.mark.parametrize("reason", ["wrong shop", "", "two\nlines: of it"])
def test_a_persons_reason_is_the_sentence_that_it_was_made_of(by: str, reason: str) -> None:
    assert rules.why_ended(CommandState.CANCELLED, rules.cancelled(by)) == rules.command_cancelled(by=by)
    for state in (CommandState.EXPIRED, CommandState.TIMED_OUT):
        assert rules.why_ended(state, rules.ended(by, reason)) == rules.command_ended(by=by, reason=reason)


def test_a_displays_own_text_is_told_as_it_is_and_a_word_is_worded() -> None:
    for state in (CommandState.FAILED, CommandState.REJECTED, CommandState.SUCCEEDED):
        for forged in (rules.cancelled("user:ada"), rules.ended("user:ada", "x")):
            assert rules.why_ended(state, forged) == as_given(text=forged)
    deleted = rules.why_ended(CommandState.CANCELLED, "client_deleted")
    assert deleted == rules.command_cause(cause=rules.OutcomeCause.CLIENT_DELETED)
    assert rules.why_ended(CommandState.CANCELLED, None) is None
