"""When a batch is due."""

from bridge.batches import (
    BATCH_MESSAGES,
    COMPANY,
    COMPANY_SECONDS,
    FEWEST_MESSAGES,
    PAUSE_SECONDS,
    QUIET_SECONDS,
    Pace,
)


def test_a_few_messages_wait_for_company_and_no_longer_than_they_may() -> None:
    pace = Pace()

    assert pace.wait_seconds(1, 5.0) == COMPANY_SECONDS
    assert round(pace.wait_seconds(COMPANY - 1, 5.2), 6) == 0.05
    assert pace.wait_seconds(COMPANY - 1, 5.25) == 0


def test_messages_in_company_wait_for_nobody_after_a_quiet_time() -> None:
    pace = Pace()

    pace.wrote(5.0, 5.004, 1)

    assert pace.wait_seconds(COMPANY, 6.0) == 0


def test_each_batch_waits_for_its_own_company() -> None:
    pace = Pace()

    pace.wait_seconds(1, 5.0)
    pace.wrote(5.25, 5.254, 1)

    assert pace.wait_seconds(1, 9.0) == COMPANY_SECONDS


def test_under_load_writing_takes_at_most_a_third_of_the_time() -> None:
    pace = Pace()

    pace.wrote(5.0, 5.004, 1)

    assert round(pace.wait_seconds(COMPANY, 5.004), 6) == 0.008
    assert round(pace.wait_seconds(pace.most - 1, 5.011), 6) == 0.001


def test_after_a_slow_batch_nobody_rests_for_long() -> None:
    pace = Pace()

    pace.wrote(5.0, 6.0, 1)

    assert round(pace.wait_seconds(COMPANY, 6.0), 6) == PAUSE_SECONDS


def test_a_whole_batch_waits_for_nobody() -> None:
    pace = Pace()

    pace.wrote(5.0, 6.0, 1)

    assert pace.wait_seconds(BATCH_MESSAGES, 6.0) == 0


def test_a_batch_that_the_database_never_ends_becomes_smaller_with_each_try() -> None:
    """Otherwise it would be retried for ever, because statements have a timeout."""
    pace = Pace()
    sizes = [pace.most]

    for _ in range(5):
        pace.failed(pace.most)
        sizes.append(pace.most)

    assert sizes == [8_000, 4_000, 2_000, 1_000, 500, FEWEST_MESSAGES]


def test_after_a_failure_full_batches_grow_little_by_little_to_the_largest() -> None:
    pace = Pace()
    pace.failed(BATCH_MESSAGES)

    pace.wrote(5.0, 7.0, pace.most - 1)
    assert pace.most == BATCH_MESSAGES / 2, "a small batch says nothing of larger ones"
    pace.wrote(7.0, 9.0, pace.most)
    assert pace.most == BATCH_MESSAGES / 2 + FEWEST_MESSAGES

    for _ in range(10):
        pace.wrote(9.0, 9.1, pace.most)
    assert pace.most == BATCH_MESSAGES


def test_while_nothing_new_is_told_a_few_messages_wait_longer() -> None:
    pace = Pace()
    pace.wrote(5.0, 5.004, 1, has_news=False)
    assert pace.wait_seconds(1, 14.0) == COMPANY_SECONDS, "what comes first is not known"
    pace.wrote(15.0, 15.004, 1, has_news=False)

    assert pace.wait_seconds(1, 16.0) == QUIET_SECONDS
    assert pace.wait_seconds(COMPANY, 16.5) == QUIET_SECONDS - 0.5
    assert pace.wait_seconds(FEWEST_MESSAGES, 16.5) == 0


def test_messages_that_come_fast_wait_no_longer_than_usual_while_nothing_new_is_told() -> None:
    pace = Pace()
    pace.wrote(5.0, 5.004, 1, has_news=False)

    assert pace.wait_seconds(1, 16.0) == QUIET_SECONDS
    assert pace.wait_seconds(COMPANY, 16.2) == 0


def test_after_something_new_messages_wait_no_longer_than_usual_for_a_while() -> None:
    pace = Pace()
    pace.wrote(5.0, 5.004, 1)
    pace.wrote(20.0, 20.004, 1)

    assert pace.wait_seconds(1, 30.0) == COMPANY_SECONDS
    pace.wrote(30.25, 30.254, 1, has_news=False)
    assert pace.wait_seconds(1, 30.5) == QUIET_SECONDS
