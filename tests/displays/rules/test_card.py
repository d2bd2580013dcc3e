"""The page with which a display tries its disk."""

import os
from pathlib import Path

import pytest

from displays.agent.card import A_DAY, PAGE_BYTES, Card

WROTE_AT = 1_700_000_000.0


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page that a display wrote a while ago."""
    path = tmp_path / "card.page"
    Card(path).look(0.0, WROTE_AT)
    os.utime(path, (WROTE_AT, WROTE_AT))
    return path


def test_a_disk_that_gives_back_what_it_took_is_well(page: Path) -> None:
    card = Card(page)

    card.look(0.0, WROTE_AT)

    assert card.lies is False
    assert page.stat().st_size == PAGE_BYTES


@pytest.mark.parametrize(("age", "is_new"), [(0.0, False), (A_DAY - 1, False), (A_DAY, True), (-1.0, True)])
def test_a_page_is_written_once_a_day_however_often_the_agent_starts(page: Path, age: float, is_new: bool) -> None:
    before = page.read_bytes()

    Card(page).look(0.0, WROTE_AT + age)

    assert (page.read_bytes() != before) is is_new


def test_an_agent_that_runs_for_days_tries_the_disk_each_day(page: Path) -> None:
    card, seen = Card(page), [page.read_bytes()]
    for hour in range(0, 72, 4):
        card.look(hour * 3600.0, WROTE_AT + hour * 3600.0)
        if page.read_bytes() != seen[-1]:
            seen.append(page.read_bytes())
            os.utime(page, (WROTE_AT + hour * 3600.0,) * 2)

    assert len(seen) == 4


@pytest.mark.parametrize("spoilt", [b"", b"\0" * PAGE_BYTES, b"\xff" * PAGE_BYTES, b"a page that was cut"])
def test_a_page_that_came_back_otherwise_is_a_lie_until_the_next_start(page: Path, spoilt: bytes) -> None:
    page.write_bytes(spoilt)
    os.utime(page, (WROTE_AT, WROTE_AT))
    card = Card(page)

    card.look(0.0, WROTE_AT + A_DAY)
    card.look(A_DAY, WROTE_AT + 2 * A_DAY)

    assert card.lies is True


def test_a_disk_that_takes_nothing_does_not_lie(tmp_path: Path) -> None:
    card = Card(tmp_path / "no folder" / "card.page")

    card.look(0.0, WROTE_AT)

    assert card.lies is None
