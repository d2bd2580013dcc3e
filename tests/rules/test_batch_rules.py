"""Waves, limits and the next step of a batch, without a database."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.batches import rules
from extensions.batches.rules import BatchStep, Progress, Wave
from shared.errors import ClientNotFound, CommandInFlight, CommandLockedOut, InvalidWaves, NotCapable
from shared.vocabulary import MemberOutcome

SIZES = [  # waves, clients, size of each wave
    (["rest"], 7, [7]),
    ([1, "10%", "rest"], 100, [1, 10, 89]),
    ([1, "10%", "rest"], 5, [1, 1, 3]),  # a share is at least one client
    ([1, "10%"], 100, [1, 10, 89]),  # the rest comes last
    ([50, 50, "rest"], 60, [50, 10]),  # waves without clients are left out
    (["100%", "rest"], 3, [3]),
    ([1], 0, []),
]


@pytest.mark.parametrize(("waves", "total", "sizes"), SIZES, ids=str)
def test_waves_have_the_sizes_asked_for(waves: list[Wave], total: int, sizes: list[int]) -> None:
    assert rules.wave_sizes(waves, total) == sizes


@pytest.mark.parametrize("waves", [[], ["rest", 1], [0], [-1, "rest"], ["101%"], ["x%"], ["ten"], [1] * 21], ids=str)
def test_what_is_no_wave_is_refused(waves: list[Wave]) -> None:
    with pytest.raises(InvalidWaves):
        rules.wave_sizes(waves, 10)


@given(
    waves=st.lists(st.one_of(st.integers(1, 50), st.integers(0, 100).map("{}%".format)), min_size=1, max_size=20),
    total=st.integers(0, 300),
)
def test_everybody_is_in_exactly_one_wave_and_no_wave_is_empty(waves: list[Wave], total: int) -> None:
    sizes = rules.wave_sizes(waves, total)

    assert sum(sizes) == total
    assert all(size > 0 for size in sizes)


def test_who_could_be_sent_now_comes_first_and_who_never_can_is_in_no_wave() -> None:
    outcomes = {
        "locked": MemberOutcome.LOCKED_OUT,
        "unknown": MemberOutcome.UNKNOWN_CLIENT,
        "fine": MemberOutcome.ACCEPTED,
        "unable": MemberOutcome.NOT_CAPABLE,
        "also fine": MemberOutcome.ACCEPTED,
    }

    members = {one.client_uuid: (one.position, one.outcome, one.wave) for one in rules.plan(outcomes, [1, "rest"])}

    assert members == {
        "locked": (0, "waiting", 2),
        "unknown": (1, "unknown_client", None),
        "fine": (2, "waiting", 1),
        "unable": (3, "not_capable", None),
        "also fine": (4, "waiting", 2),
    }


@pytest.mark.parametrize(
    ("refusal", "outcome"),
    [
        (None, "accepted"),
        (ClientNotFound(), "unknown_client"),
        (CommandInFlight(), "command_in_flight"),
        (CommandLockedOut(), "locked_out"),
        (NotCapable(), "not_capable"),
    ],
    ids=str,
)
def test_every_refusal_has_its_outcome(refusal: Any, outcome: str) -> None:
    assert rules.outcome_of(refusal) == outcome


LIMITS = [(0, 10, "0", False), (1, 10, "0", True), (1, 10, "10%", False), (2, 11, "10%", True), (3, 3, "100%", False)]


@pytest.mark.parametrize(("unproven", "sent", "limit", "too_many"), LIMITS, ids=str)
def test_a_limit_is_a_number_or_a_share_of_those_sent(unproven: int, sent: int, limit: str, too_many: bool) -> None:
    assert rules.is_too_many(unproven, sent, limit) is too_many


def at(**where: int) -> Progress:
    return Progress(
        **{"waiting_now": 0, "waiting_later": 0, "sent_in_wave": 1, "sent": 10, "open": 0, "unproven": 0, **where}
    )


NEXT = [
    (at(waiting_now=3), 0, BatchStep.SEND, "the present wave is sent whole"),
    (at(waiting_now=3, unproven=2), 0, BatchStep.PAUSE, "even half-way through a wave"),
    (at(waiting_now=3, unproven=2), 2, BatchStep.SEND, "excused"),
    (at(open=1, waiting_later=4), 0, BatchStep.WAIT, "results are awaited"),
    (at(open=1, waiting_later=4, unproven=2), 0, BatchStep.PAUSE, "too many have failed already"),
    (at(open=1, unproven=9), 0, BatchStep.WAIT, "nobody waits: there is nothing to hold back"),
    (at(unproven=9), 0, BatchStep.FINISH, "it is over"),
    (at(waiting_later=4), 0, BatchStep.NEXT_WAVE, "the present wave is over"),
    (at(waiting_later=4, sent_in_wave=0), 0, BatchStep.PAUSE, "it proved nothing"),
]


@pytest.mark.parametrize(("progress", "excused", "turn", "note"), NEXT, ids=lambda value: str(value)[:40])
def test_what_a_batch_does_next(progress: Progress, excused: int, turn: BatchStep, note: str) -> None:
    decision = rules.decide(progress, wave=1, limit="10%", excused=excused, excused_wave=0)

    assert decision.turn is turn
    assert (decision.why is not None) is (turn is BatchStep.PAUSE)


def test_a_wave_that_proved_nothing_and_was_excused_is_followed_by_the_next() -> None:
    progress = at(waiting_later=4, sent_in_wave=0)

    assert rules.decide(progress, wave=2, limit="10%", excused=0, excused_wave=2).turn is BatchStep.NEXT_WAVE


RESULTS = [
    ({(1, "accepted", "succeeded"): 3}, "succeeded"),
    ({(1, "accepted", "succeeded"): 3, (None, "unknown_client", None): 1}, "partial"),
    ({(1, "accepted", "succeeded"): 3, (2, "aborted", None): 1}, "partial"),
    ({(1, "accepted", "failed"): 3}, "failed"),
    ({(1, "locked_out", None): 1}, "failed"),
    ({(1, "accepted", "succeeded"): 3, (1, "accepted", "running"): 1}, None),
]


@pytest.mark.parametrize(("counts", "result"), RESULTS, ids=str)
def test_nothing_partial_is_called_success(counts: dict[Any, int], result: str | None) -> None:
    assert rules.result(counts) == result
