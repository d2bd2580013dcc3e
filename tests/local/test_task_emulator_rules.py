"""The queue's pure rules: waits between attempts, when it stops retrying, how fast it dispatches."""

from datetime import UTC, datetime, timedelta

import pytest

from deploy.parts.task_queue.pacing import Pace, burst_size
from deploy.parts.task_queue.retry_rules import (
    TASK_RETENTION,
    RetryPolicy,
    backoff,
    next_attempt,
    retry_after,
)

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


@pytest.mark.parametrize(
    ("shortest", "longest", "doublings", "waits"),
    [
        # the worked example in the reference of RetryConfig
        (10, 300, 3, [10, 20, 40, 80, 160, 240, 300, 300]),
        # no doubling: linear from the start
        (1, 5, 0, [1, 2, 3, 4, 5, 5]),
        # doublings beyond the maximum: never linear
        (1, 60, 16, [1, 2, 4, 8, 16, 32, 60, 60]),
        # minimum equals maximum: constant
        (7, 7, 5, [7, 7, 7]),
        # sub-second
        (0.1, 0.3, 1, [0.1, 0.2, 0.3, 0.3]),
    ],
)
def test_the_wait_doubles_then_grows_linearly_then_stays(
    shortest: float, longest: float, doublings: int, waits: list[float]
) -> None:
    policy = RetryPolicy(min_backoff=seconds(shortest), max_backoff=seconds(longest), max_doublings=doublings)

    assert [backoff(policy, n).total_seconds() for n in range(1, len(waits) + 1)] == pytest.approx(waits)


def test_the_wait_of_the_millionth_failure_is_the_longest_one() -> None:
    policy = RetryPolicy(seconds(0.1), seconds(3600), max_doublings=2_000_000)

    assert backoff(policy, 1_000_000) == policy.max_backoff


@pytest.mark.parametrize(
    ("status", "value", "wait"),
    [
        (503, "7", 7),
        (429, " 120 ", 120),
        (503, "0", 0),
        (503, "Sun, 01 Mar 2026 12:00:30 GMT", 30),
        (503, "Sun, 01 Mar 2026 11:59:00 GMT", 0),  # in the past
        (503, "999999999999999999999999", 3600),  # at most an hour
        (503, "Sun, 01 Mar 2099 12:00:30 GMT", 3600),
        (503, "soon", 0),
        (503, "-5", 0),
        (503, "³", 0),  # a digit to Python, not to HTTP
        (503, None, 0),
        (500, "7", 0),  # only 429 and 503 may ask
        (None, "7", 0),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(status: int | None, value: str | None, wait: float) -> None:
    assert retry_after(status, value, NOW) == seconds(wait)


def test_retry_after_can_lengthen_the_wait_but_not_shorten_it() -> None:
    policy = RetryPolicy(seconds(10), seconds(60), 3)

    assert next_attempt(policy, 1, NOW, NOW, seconds(30)) == NOW + seconds(30)
    assert next_attempt(policy, 1, NOW, NOW, seconds(3)) == NOW + seconds(10)


def test_no_task_outlives_the_retention() -> None:
    policy = RetryPolicy(seconds(10), seconds(60), 3)
    created = NOW - TASK_RETENTION

    assert next_attempt(policy, 5, created, NOW, seconds(0)) is None
    assert next_attempt(policy, 5, created + seconds(1), NOW, seconds(0)) is not None


def test_a_full_bucket_lets_a_burst_go_and_then_the_rate() -> None:
    pace = Pace(rate=2.0, burst=3, concurrent=100)

    assert pace.room(now=50.0, under_way=0) == 3
    pace.take(3)
    assert pace.room(now=50.0, under_way=3) == 0
    assert pace.seconds_to_token() == pytest.approx(0.5)
    assert pace.room(now=50.5, under_way=3) == 1
    pace.take(1)
    assert pace.room(now=150.0, under_way=0) == 3  # never more than the bucket holds


def test_the_bucket_ignores_a_clock_that_goes_back() -> None:
    pace = Pace(rate=1.0, burst=1, concurrent=1)
    pace.take(pace.room(now=10.0, under_way=0))

    assert pace.room(now=5.0, under_way=0) == 0
    assert pace.room(now=6.0, under_way=0) == 1


def test_what_is_under_way_takes_its_room() -> None:
    pace = Pace(rate=500.0, burst=500, concurrent=2)

    assert pace.room(now=0.0, under_way=0) == 2
    assert pace.room(now=0.0, under_way=1) == 1
    assert pace.room(now=0.0, under_way=2) == 0
    assert pace.room(now=0.0, under_way=3) == 0


def test_a_bucket_holds_a_second_of_its_rate_and_at_least_one() -> None:
    assert [burst_size(rate) for rate in (0.1, 1.0, 2.5, 500.0)] == [1, 1, 3, 500]
