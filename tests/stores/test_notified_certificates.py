"""Notifications about the certificates of the doors: one for each stage, and one for a new certificate."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql import insert

from shared.tables import door_certificates
from shared.vocabulary import NotificationEvent
from tests.stores.notifications_world import MINUTE, channel, decide, deliver_all, messages, told
from tests.stores.quiet_world import snooze

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
SEES = "The certificate that displays see"
ENDING, ENDED = f"{SEES} ends within 3 days", f"{SEES} has ended"
OLD = f"{SEES} ends within 14 days"


def show(
    connection: Connection, at: datetime, ends_at: datetime, door: str = "displays", lifetime: timedelta = 90 * DAY
) -> None:
    """Record a check of the certificate at `at`."""
    new = {"begins_at": ends_at - lifetime, "ends_at": ends_at, "seen_at": at}
    row = insert(door_certificates).values(door=door, **new)
    connection.execute(row.on_conflict_do_update(index_elements=["door"], set_=new))


def settle(connection: Connection, at: datetime) -> None:
    """Run a tick twice, and deliver its messages."""
    decide(connection, at)
    decide(connection, at)
    deliver_all(connection, at)


def look(connection: Connection, at: datetime, ends_at: datetime) -> None:
    show(connection, at, ends_at)
    settle(connection, at)


def test_each_stage_is_told_once_and_then_that_it_was_renewed(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    end = now + 20 * DAY

    for hours in range(0, 21 * 24, 6):
        look(connection, now + hours * HOUR, end)
    stages = told(connection)
    for hours in (0, 6):
        look(connection, now + 21 * DAY + hours * HOUR, now + 111 * DAY)

    assert stages == [("opened", OLD), ("escalated", f"Worse: {ENDING}"), ("opened", ENDED)]
    assert told(connection) == [*stages, ("recovered", f"Over: {ENDED}")]
    first, second, third, _ = messages(connection)
    assert [one["facts"]["event"] for one in (first, second, third)] == [
        "certificate_old",
        "certificate_ending",
        "certificate_ending",
    ]
    assert (first["facts"]["door"], first["facts"]["ends_at"]) == ("displays", end.isoformat())
    assert f"It ends on {end.day} {end:%B %Y, %H:%M} (UTC)." in first["text"]


def test_certificates_of_six_days_that_renew_at_the_half_are_no_news(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    for hours in range(0, 12 * 24, 6):
        begun = now + (hours // 72 * 72) * HOUR
        show(connection, now + hours * HOUR, begun + 6 * DAY, lifetime=6 * DAY)
        settle(connection, now + hours * HOUR)

    assert told(connection) == []


RENEWALS: list[tuple[list[tuple[int, int]], list[tuple[str, str]]]] = [
    ([(1, 14), (2, 92)], [("opened", OLD), ("recovered", f"Over: {OLD}")]),
    (
        [(1, 3), (2, 10), (8, 10)],
        [("opened", ENDING), ("recovered", f"Over: {ENDING}"), ("opened", OLD), ("escalated", f"Worse: {ENDING}")],
    ),
]


@pytest.mark.parametrize(("looks", "messages"), RENEWALS, ids=["by a new one", "by another old one"])
def test_one_that_is_renewed_is_over_at_the_next_look_and_another_old_one_is_told(
    connection: Connection, now: datetime, looks: list[tuple[int, int]], messages: list[tuple[str, str]]
) -> None:
    """Each look: its day, and the day on which the certificate ends that it finds."""
    channel(connection, now - 30 * DAY)
    for day, ends_on in looks:
        look(connection, now + day * DAY, now + ends_on * DAY)

    assert told(connection) == messages


def test_both_doors_are_two_messages_and_one_that_is_no_more_is_over_without_a_word(
    connection: Connection, now: datetime
) -> None:
    """On a box both doors have the same certificate; the two messages tell a person to renew both."""
    channel(connection, now - 30 * DAY)
    show(connection, now + DAY, now + 10 * DAY, "people")
    look(connection, now + DAY, now + 10 * DAY)
    both = [("opened", OLD), ("opened", "The certificate of the dashboard ends within 14 days")]
    assert told(connection) == both

    connection.execute(sa.delete(door_certificates))
    settle(connection, now + DAY + HOUR)
    look(connection, now + 2 * DAY, now + 10 * DAY)

    assert told(connection) == both


@pytest.mark.parametrize(
    ("ends_in", "seen_before", "titles"),
    [
        (10 * DAY, 90 * MINUTE, [OLD]),
        (10 * DAY, 3 * HOUR, []),
        (2 * DAY, 3 * HOUR, []),
        (-HOUR, 3 * HOUR, [ENDED]),
        (-HOUR, 3 * DAY, []),
    ],
    ids=["seen at the last look", "not seen lately", "nor so near the end", "ended, and away", "away for long"],
)
def test_what_was_seen_a_while_ago_is_no_news(
    connection: Connection, now: datetime, ends_in: timedelta, seen_before: timedelta, titles: list[str]
) -> None:
    """A restored database holds an old check; the next check comes at once."""
    channel(connection, now - 30 * DAY)
    show(connection, now - seen_before, now + ends_in)
    settle(connection, now)

    assert told(connection) == [("opened", title) for title in titles]


def test_a_database_that_was_put_back_tells_no_stage_again(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    end = now + 14 * DAY
    look(connection, now + HOUR, end)
    kept = connection.begin_nested()
    look(connection, now + 12 * DAY, end)
    kept.rollback()
    settle(connection, now + 13 * DAY)
    before = told(connection)
    look(connection, now + 13 * DAY, end)

    assert before == [("opened", OLD)]
    assert told(connection) == [("opened", OLD), ("escalated", f"Worse: {ENDING}")]


def test_a_channel_hears_of_certificates_for_whatever_sites_it_is(connection: Connection, now: datetime) -> None:
    rome = channel(connection, now, "Rome", sites=["Rome"])
    critical = channel(connection, now, "Critical", events={NotificationEvent.CERTIFICATE_ENDING})
    look(connection, now + HOUR, now + 14 * DAY)
    look(connection, now + 12 * DAY, now + 14 * DAY)

    assert told(connection, rome) == [("opened", OLD), ("escalated", f"Worse: {ENDING}")]
    assert told(connection, critical) == [("opened", ENDING)]


def test_a_snooze_of_the_fleet_holds_it_back_until_it_ends(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    at = now + HOUR
    snooze(connection, at, at + HOUR)
    look(connection, at + MINUTE, now + 14 * DAY)
    silent = told(connection)
    look(connection, at + 2 * HOUR, now + 14 * DAY)

    assert silent == []
    assert told(connection) == [("opened", OLD)]
