"""When a batch is due."""

from bridge.pace import BATCH_MESSAGES, BATCH_SECONDS, Pace


def test_the_first_message_after_a_quiet_time_waits_for_nobody() -> None:
    pace = Pace()

    assert pace.wait_seconds(1, 5.0) == 0
    pace.wrote(5.0, 5.004)
    assert pace.wait_seconds(1, 5.1) == 0


def test_under_load_writing_takes_at_most_a_third_of_the_time() -> None:
    pace = Pace()

    pace.wrote(5.0, 5.004)

    assert round(pace.wait_seconds(1, 5.004), 6) == 0.008
    assert round(pace.wait_seconds(BATCH_MESSAGES - 1, 5.011), 6) == 0.001


def test_no_message_waits_for_company_longer_than_it_may() -> None:
    pace = Pace()

    pace.wrote(5.0, 6.0)

    assert round(pace.wait_seconds(1, 6.0), 6) == BATCH_SECONDS


def test_a_whole_batch_waits_for_nobody() -> None:
    pace = Pace()

    pace.wrote(5.0, 6.0)

    assert pace.wait_seconds(BATCH_MESSAGES, 6.0) == 0
