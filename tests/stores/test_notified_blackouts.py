"""A shop that is dark again is told again, at every distance; one that keeps failing is told so once."""

from datetime import datetime

import pytest
from sqlalchemy import Connection

from shared.postgres.door import database_now
from tests.stores.incidents_world import MINUTE, come_back, go_silent, listen, observe, site
from tests.stores.notifications_world import channel, settle, told

SHOP = "12 displays at Rome"


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    listen(connection, at)
    channel(connection, at)
    return at


def live(connection: Connection, now: datetime, blackouts: list[tuple[int, int]], until: int) -> list[tuple[str, str]]:
    """What is told of a shop that is dark from and until these minutes, with a look and a decision each minute."""
    shop = site(connection, now)
    for minute in range(1, until):
        at = now + minute * MINUTE
        if any(minute == begin for begin, _ in blackouts):
            go_silent(connection, at, shop)
        if any(minute == end for _, end in blackouts):
            come_back(connection, at, shop)
        near = any(begin - 1 <= minute <= end + 12 for begin, end in blackouts)
        if near or minute % 20 == 0:
            observe(connection, at)
            settle(connection, at)
    return [(phase, title) for phase, title in told(connection) if phase != "escalated"]


@pytest.mark.parametrize("after", [1, 5, 7, 90, 1400])
def test_a_second_blackout_is_told_at_every_distance(connection: Connection, now: datetime, after: int) -> None:
    second = 12 + after
    messages = live(connection, now, [(2, 12), (second, second + 10)], second + 30)

    assert [title for phase, title in messages if phase == "opened"] == [
        f"{SHOP} failed together",
        f"{SHOP} failed together again (2 times in 24 hours)",
    ]
    ends = [title for phase, title in messages if phase == "recovered"]
    assert ends[-1] == f"Over: {SHOP} failed together again (2 times in 24 hours)"
    assert len(ends) == (1 if after < 6 else 2)  # the first went on as the second before it was over


@pytest.mark.parametrize("period", [8, 12, 24])
def test_a_shop_that_keeps_failing_is_told_so_once(connection: Connection, now: datetime, period: int) -> None:
    begins = range(2, 2 + 5 * period, period)
    messages = live(connection, now, [(begin, begin + period // 2) for begin in begins], begins[-1] + 100)

    assert [title for phase, title in messages if phase == "opened"] == [
        f"{SHOP} failed together",
        f"{SHOP} failed together again (2 times in 24 hours)",
        f"{SHOP} keep failing (3 times in 24 hours)",
    ]
    assert [title for phase, title in messages if phase == "recovered"][-1:] == [
        f"Over: {SHOP} keep failing (3 times in 24 hours)"
    ]
    assert [phase for phase, _ in messages].count("recovered") <= 3
