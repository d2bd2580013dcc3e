"""A client's budget of log messages: a rate and a burst; a numbered message over it is only deferred."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from shared.client_logs.rules import Allowance, Budget, LogLine, admits
from shared.vocabulary import LogLevel

BUDGET = Budget(per_second=50, burst=500)


def line(heard: float, seq: int | None = None, boot_seq: int = 1) -> LogLine:
    """A message that arrived at `heard`; without `seq` a plain one."""
    stamp = (None, None) if seq is None else ("installation", boot_seq)
    return LogLine("uuid", heard, LogLevel.INFO, None, "m", install_id=stamp[0], boot_seq=stamp[1], seq=seq)


def whole() -> Allowance:
    return Allowance(BUDGET.burst, 0.0)


def admitted(left: Allowance, lines: Iterable[LogLine]) -> list[LogLine]:
    return [one for one in lines if admits(BUDGET, left, one)]


def test_a_burst_is_taken_whole_and_then_only_what_the_seconds_bring() -> None:
    left = whole()

    assert len(admitted(left, [line(0.0)] * 2000)) == 500
    assert len(admitted(left, [line(1.0)] * 2000)) == 50
    assert len(admitted(left, [line(1.5)] * 2000)) == 25


def test_a_client_within_its_budget_loses_nothing_however_long_it_logs() -> None:
    left = whole()
    steady = [line(number / 50) for number in range(20_000)]

    assert admitted(left, steady) == steady


def test_silence_gives_back_one_burst_and_no_more() -> None:
    left = whole()
    admitted(left, [line(0.0)] * 500)

    assert len(admitted(left, [line(BUDGET.refill_seconds)] * 2000)) == 500
    assert len(admitted(left, [line(1e6)] * 2000)) == 500


def test_an_arrival_before_the_last_one_gives_and_takes_nothing() -> None:
    left = whole()
    admitted(left, [line(10.0)] * 500)

    assert admitted(left, [line(3.0)]) == []
    assert len(admitted(left, [line(11.0)] * 100)) == 50


def test_behind_a_numbered_message_that_was_put_off_no_token_is_spent() -> None:
    left = whole()
    first = admitted(left, (line(0.0, seq) for seq in range(1, 2001)))

    assert admitted(left, (line(5.0, seq) for seq in range(2001, 4001))) == []
    again = admitted(left, (line(5.0, seq) for seq in range(501, 4001)))

    assert [one.seq for one in first + again] == list(range(1, 751))


def test_other_boots_and_plain_messages_do_not_wait_for_a_number_that_was_put_off() -> None:
    left = whole()
    admitted(left, (line(0.0, seq) for seq in range(1, 502)))

    assert len(admitted(left, [line(1.0, 900, boot_seq=2), line(1.0)])) == 2
    assert admitted(left, [line(1.0, 900)]) == []


def test_a_number_that_never_comes_again_is_not_waited_for_longer_than_a_refill() -> None:
    left = whole()
    admitted(left, (line(0.0, seq) for seq in range(1, 502)))

    assert admitted(left, [line(BUDGET.refill_seconds - 0.1, 900)]) == []
    assert len(admitted(left, [line(BUDGET.refill_seconds, 901)])) == 1


@given(st.lists(st.tuples(st.floats(0, 5), st.none() | st.integers(1, 50)), max_size=200))
def test_never_more_than_burst_and_rate_together(steps: list[tuple[float, int | None]]) -> None:
    budget = Budget(per_second=2, burst=5)
    left = Allowance(budget.burst, 0.0)
    now, taken = 0.0, 0
    for pause, seq in steps:
        now += pause
        taken += admits(budget, left, line(now, seq))

        assert taken <= budget.burst + budget.per_second * now + 1e-6


@given(st.integers(600, 3000), st.sampled_from([3.0, 5.0, 30.0]), st.integers(0, 300))
def test_a_flood_that_is_sent_again_from_the_mark_gets_through_at_the_budget(
    count: int, pause: float, live: int
) -> None:
    """The display repeats all uncommitted lines as fast as it can, and logs further lines meanwhile."""
    left = whole()
    mark, last, now = 0, count, 0.0
    while mark < last and now < 1000:
        for one in admitted(left, (line(now, seq) for seq in range(mark + 1, last + 1))):
            assert one.seq == mark + 1
            mark += 1
        now += pause
        last = min(last + live // 3, count + live)

    assert mark == last
    assert now <= (count + live) / min(50, 500 / pause) + 8 * pause  # 5 of them until the last one has come
