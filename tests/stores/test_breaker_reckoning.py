"""Which silent clients the breakers count, and from when."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.recovery import store
from shared.recovery.breakers import operations as breakers
from shared.recovery.breakers.store import MANY
from shared.tables import client_heartbeats, clients
from shared.words.reader import english
from tests.stores.commands_world import SHUTDOWN, done, issue, seconds
from tests.stores.quiet_world import hold, leave_out, leave_out_site, maintain
from tests.stores.recovery_world import (
    ON,
    beat,
    fleet,
    hear,
    open_breakers,
    recover,
    sent,
    told,
)

pytestmark = pytest.mark.usefixtures("listening")
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
Reason = Callable[[Connection, datetime, Sequence[str]], object]
"""Gives these displays a known reason for their silence."""


def of_each(act: Callable[[Connection, datetime, str], object]) -> Reason:
    def of_all(connection: Connection, now: datetime, uuids: Sequence[str]) -> None:
        for one in uuids:
            act(connection, now, one)

    return of_all


def shut_down(connection: Connection, now: datetime, client: str) -> None:
    at = now - 5 * MINUTE
    done(connection, at, client, issue(connection, at, client, SHUTDOWN))


def having(**facts: Any) -> Reason:
    """Store these facts of each of the displays."""
    return lambda connection, _now, uuids: change(connection, uuids, **facts)


def change(connection: Connection, uuids: Sequence[str], **facts: Any) -> None:
    connection.execute(sa.update(clients).where(clients.c.uuid.in_(uuids)).values(**facts))


REASONS: dict[str, Reason] = {
    "held": of_each(hold),
    "excluded": of_each(leave_out),
    "at an excluded site": lambda connection, now, _: leave_out_site(connection, now, "Vienna"),
    "in a window": lambda connection, now, _: maintain(connection, now, now + HOUR, site="Vienna"),
    "stopped": having(process_status="stopped"),
    "deleted": having(deleted_at=sa.func.now()),
    "shut down": of_each(shut_down),
}


@pytest.mark.parametrize("reason", REASONS)
def test_whose_silence_is_no_news_is_not_counted(connection: Connection, now: datetime, reason: str) -> None:
    fleet(connection, now, 10)
    gone = fleet(connection, now - 6 * MINUTE, 9, site="Vienna")
    [other] = fleet(connection, now - 6 * MINUTE, 1)
    REASONS[reason](connection, now, gone)

    assert sent(connection, recover(connection, now)) == [(other, "reboot_host")]
    assert open_breakers(connection) == set()


def test_who_was_not_seen_for_a_day_is_no_part_of_the_reckoning(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    fleet(connection, now - timedelta(hours=25), 200, presence="offline")

    recover(connection, now)

    assert open_breakers(connection) == set()


def test_who_did_not_return_after_our_absence_went_silent_at_once(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 70)
    fleet(connection, now - 13 * MINUTE, 30)
    hear(connection, now, since=seconds(190))

    assert recover(connection, now).command_ids == ()
    assert open_breakers(connection) == {None}


def test_who_was_dark_long_before_our_absence_does_not_open_it(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 70)
    fleet(connection, now - timedelta(hours=20), 30, presence="offline")
    fleet(connection, now - 13 * MINUTE, 1, presence="offline")  # the last that was heard before
    hear(connection, now, since=seconds(100))

    recover(connection, now)

    assert open_breakers(connection) == set()


def test_after_a_days_absence_of_ours_the_fleet_is_still_reckoned_with(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 70)
    fleet(connection, now - timedelta(hours=26), 30)
    hear(connection, now, since=seconds(200))

    assert recover(connection, now).command_ids == ()
    assert open_breakers(connection) == {None}


def test_a_silence_of_too_many_to_name_them_is_counted_like_one_of_few(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    gone = fleet(connection, now - 4 * MINUTE, MANY + 20)
    leave_out(connection, now, gone[0])

    assert recover(connection, now).command_ids == ()
    [event] = store.breaker_events(connection, None, 1)
    assert event.evidence == {"site": None, "seen": MANY + 119, "stale": MANY + 19, "recent": MANY + 19}


@pytest.mark.parametrize("reason", [reason for reason in REASONS if reason != "shut down"])
def test_whose_silence_would_be_no_news_is_not_counted_while_heard_either(
    connection: Connection, now: datetime, reason: str
) -> None:
    fleet(connection, now, 12)
    fleet(connection, now - 4 * MINUTE, 5)
    others = fleet(connection, now, 13, site="Vienna")
    recover(connection, now)
    assert not open_breakers(connection)  # 5 of 30

    REASONS[reason](connection, now, others)
    recover(connection, now + seconds(1))

    assert open_breakers(connection) == {None}
    assert "5 of 17 displays are silent" in english(breakers.state(connection, ON)["why"])


def test_at_a_site_only_those_are_counted_whose_silence_would_be_news(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    fleet(connection, now, 12, site="Vienna")
    fleet(connection, now - 4 * MINUTE, 5, site="Vienna")
    recover(connection, now)
    assert open_breakers(connection) == {"Vienna"}  # 5 of 17

    fleet(connection, now, 13, site="Vienna")
    change(connection, fleet(connection, now, 4, site="Vienna"), process_status="stopped")
    for second in (1, 50, 100):
        recover(connection, now + seconds(second))

    assert not open_breakers(connection)  # 5 of 30


def test_a_display_that_came_back_just_before_all_fell_silent_waits_for_them(
    connection: Connection, now: datetime
) -> None:
    others = fleet(connection, now - seconds(126), 18)
    [back] = fleet(connection, now - 16 * MINUTE, 1, presence_at=now - seconds(125))

    assert sent(connection, recover(connection, now)) == []
    assert told(connection, now, back)["why"] == (
        "18 of 19 displays are late or silent: recovery waits to see whether more fall silent."
    )
    beat(connection, others, now + seconds(5))

    assert sent(connection, recover(connection, now + seconds(10))) == [(back, "reboot_host")]


def test_displays_that_speak_more_often_are_no_case_before_the_others_are_heard(
    connection: Connection, now: datetime
) -> None:
    well, silent, others = (fleet(connection, now, number) for number in (4, 3, 4))
    connection.execute(
        sa.update(client_heartbeats).where(client_heartbeats.c.client_uuid.in_(others)).values(interval_seconds=120)
    )

    def recovered(after: timedelta) -> list[tuple[str, str]]:
        hear(connection, now + after)
        beat(connection, well, now + after)
        return sent(connection, recover(connection, now + after))

    for minutes in range(3, 18):
        assert recovered(minutes * MINUTE) == [], minutes
    beat(connection, others, now + 17.5 * MINUTE)

    for minutes in range(18, 28):  # a breaker that opened closes
        if done_now := recovered(minutes * MINUTE):
            assert {uuid for uuid, _ in done_now} == set(silent)
            return
    pytest.fail("recovery never acted")
