"""Each numbered line is stored exactly once, for any order, repeats and batches."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.client_logs.rules import Mark, Settled, is_over, is_stored, level_of, settle
from shared.vocabulary import LogLevel

NUMBERS = st.lists(st.integers(1, 40), max_size=30)


@pytest.mark.parametrize(
    ("known", "numbers", "expected"),
    [
        (Mark(), [1, 2, 3], Settled((1, 2, 3), Mark(3), 0)),  # in order
        (Mark(), [3, 1, 2], Settled((1, 2, 3), Mark(3), 0)),  # out of order within a batch
        (Mark(), [2, 3], Settled((2, 3), Mark(0, ((2, 3),)), 0)),  # a gap keeps the mark back
        (Mark(0, ((2, 3),)), [1], Settled((1,), Mark(3), 0)),  # the gap closes
        (Mark(3), [1, 2, 3], Settled((), Mark(3), 0)),  # all of it again
        (Mark(3, ((6, 7),)), [6, 4], Settled((4,), Mark(4, ((6, 7),)), 0)),  # one again, one new
        (Mark(3, ((5, 6), (8, 9))), [4, 7], Settled((4, 7), Mark(9), 0)),  # two gaps close at once
        (Mark(5), [5, 5, 6, 6], Settled((6,), Mark(6), 0)),  # twice in one batch
        (Mark(2**62), [2**62 + 1], Settled((2**62 + 1,), Mark(2**62 + 1), 0)),  # large numbers cost no time
        (Mark(4), [], Settled((), Mark(4), 0)),
    ],
)
def test_a_batch_of_numbers_moves_the_mark(known: Mark, numbers: list[int], expected: Settled) -> None:
    assert settle(known, numbers) == expected


@given(st.lists(NUMBERS, max_size=8))
def test_every_number_is_fresh_once_and_the_mark_has_no_gap_below(
    batches: list[list[int]],
) -> None:
    mark = Mark()
    stored: list[int] = []
    for batch in batches:
        settled = settle(mark, batch)
        stored += settled.fresh
        mark = settled.mark

        told = set(stored)
        assert len(told) == len(stored)
        assert set(range(1, mark.seq + 1)) <= told
        assert mark.seq + 1 not in told
        assert {number for low, high in mark.islands for number in range(low, high + 1)} == {
            number for number in told if number > mark.seq
        }
        assert all(low > mark.seq + 1 for low, _ in mark.islands)
        assert all(b[0] > a[1] + 1 for a, b in zip(mark.islands, mark.islands[1:], strict=False))
        assert settled.given_up == 0
    assert set(stored) == {number for batch in batches for number in batch}


@given(st.permutations(range(1, 31)), st.data())
def test_a_whole_boot_in_any_order_and_any_batches_ends_in_one_mark(order: list[int], data: st.DataObject) -> None:
    mark = Mark()
    while order:
        size = data.draw(st.integers(1, len(order)))
        batch, order = order[:size], order[size:]
        again = data.draw(st.lists(st.sampled_from(batch), max_size=3))
        mark = settle(mark, [*batch, *again]).mark

    assert mark == Mark(30)


@given(st.lists(NUMBERS, max_size=8), st.integers(0, 5))
def test_what_waits_behind_gaps_is_bounded(batches: list[list[int]], kept: int) -> None:
    mark = Mark()
    for batch in batches:
        before = mark
        settled = settle(before, batch, kept_above=kept)
        mark = settled.mark

        assert sum(high - low + 1 for low, high in mark.islands) <= kept
        assert mark.seq >= before.seq
        assert all(is_stored(mark, number) for number in batch)
        never_came = [
            number
            for number in range(before.seq + 1, mark.seq + 1)
            if number not in batch and not is_stored(before, number)
        ]
        assert settled.given_up == len(never_came)


@pytest.mark.parametrize(
    ("word", "level", "raw"),
    [
        ("error", LogLevel.ERROR, None),
        ("warn", LogLevel.WARNING, None),
        ("err", LogLevel.ERROR, None),
        ("fatal", LogLevel.CRITICAL, None),
        ("trace", LogLevel.DEBUG, None),
        ("shout", LogLevel.INFO, "shout"),
    ],
)
def test_levels_have_aliases_and_foreign_words_are_kept_beside_info(
    word: str, level: LogLevel, raw: str | None
) -> None:
    assert level_of(word) == (level, raw)


@pytest.mark.parametrize(
    ("partition", "days", "over"),
    [
        ("client_logs_routine_2026w10", 30, False),  # ended on 9 March 2026, 30 days before 8 April
        ("client_logs_routine_2026w09", 30, True),
        ("client_logs_serious_2026w09", 90, False),
        ("client_logs_serious_2025w01", 90, True),
    ],
)
def test_a_week_is_dropped_once_all_of_it_is_old_enough(partition: str, days: int, over: bool) -> None:
    now = datetime(2026, 4, 7, 23, 59, tzinfo=UTC)
    keep = {"routine": timedelta(days=days), "serious": timedelta(days=days)}

    assert is_over(partition, now, keep) is over
    if not over:
        assert is_over(partition, now + timedelta(days=365), keep)
