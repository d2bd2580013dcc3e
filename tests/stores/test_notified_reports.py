"""The reports of the morning: each day, and each Monday."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from extensions.notifications import operations
from extensions.notifications.channels.rules import Hours
from shared.tables import client_commands, clients
from shared.vocabulary import NotificationEvent, Quiet, QuietPreset, Weekday
from tests.stores.commands_world import add_client
from tests.stores.incidents_world import go_silent, listen, observe, site
from tests.stores.notifications_world import MINUTE, SETTINGS, channel, decide, deliver_all, messages, told
from tests.stores.quiet_world import make, wanted

DAILY, WEEKLY = [NotificationEvent.DAILY_REPORT], [NotificationEvent.WEEKLY_REPORT]
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def report(connection: Connection, at: datetime) -> int:
    """Make the reports that are due, as a tick does. Returns how many there were."""
    return len(operations.report(connection, at, SETTINGS))


@pytest.fixture
def monday(now: datetime) -> datetime:
    """Seven o'clock of the first Monday from tomorrow on, in UTC."""
    tomorrow = now + DAY
    day = tomorrow.date() + timedelta(days=-tomorrow.weekday() % 7)
    return datetime.combine(day, time(7), tomorrow.tzinfo)


def test_each_morning_a_channel_gets_one_report(connection: Connection, monday: datetime) -> None:
    site(connection, monday, "Basel", 3)
    channel(connection, monday - HOUR, events=DAILY)

    told_at = []
    for quarter in range(3 * 24 * 4):
        at = monday - HOUR + quarter * 15 * MINUTE
        if report(connection, at):
            told_at.append(at - monday)

    assert told_at == [timedelta(), DAY, 2 * DAY]
    assert told(connection) == [("opened", "Daily report: all 3 displays well")] * 3
    assert messages(connection)[0]["text"].splitlines() == [
        "Last 24 hours: 0 incidents.",
        "Recovery had nothing to do.",
        "https://signage.test/",
    ]


def test_it_says_who_is_unwell_and_what_happened(connection: Connection, monday: datetime) -> None:
    at = monday - 3 * HOUR
    channel(connection, at, events=DAILY)
    listen(connection, at)
    dark = site(connection, at, "Basel", 5)
    site(connection, at, "Wil", 2)
    go_silent(connection, at, dark)
    observe(connection, at)
    mended = add_client(
        connection, monday, site="Wil", status="running", service_failed_at=at, service_failed_unit="player"
    )
    command = {"id": "c1", "client_uuid": mended, "action": "restart_app", "state": "succeeded", "source": "recovery"}
    times = dict.fromkeys(("created_at", "finished_at", "sent_at", "received_at"), at) | {"expires_at": monday}
    connection.execute(sa.insert(client_commands).values(**command, **times, requested_by="recovery"))

    report(connection, monday)

    [message] = messages(connection)
    assert message["title"] == "Daily report: 6 of 8 displays unwell"
    basel, wil, heading, incident, recovered, _ = message["text"].splitlines()
    assert basel == "Basel: 5 silent, of 5 displays."
    assert wil == "Wil: 1 with a failed service or screen, of 3 displays."
    assert heading == "Last 24 hours: 1 incident."
    assert incident.startswith("5 of 5 displays at site Basel went silent")
    assert recovered == "Recovery restarted a player once."
    assert message["facts"]["event"] == "daily_report"
    assert message["facts"]["sites"] == ["Basel", "Wil"]
    assert (message["facts"]["displays"], message["facts"]["unwell"]) == (8, 6)


def test_displays_that_are_meant_to_be_off_are_not_unwell(connection: Connection, monday: datetime) -> None:
    channel(connection, monday - HOUR, events=DAILY)
    go_silent(connection, monday, site(connection, monday, "Basel", 4))
    begins, ends = monday - HOUR, monday + HOUR
    off = wanted(QuietPreset.CUSTOM, site="Basel", starts=begins, until=ends, quiet=(Quiet.SCREEN,))
    make(connection, begins, off)

    report(connection, monday)

    [message] = messages(connection)
    assert message["title"] == "Daily report: all 4 displays well"
    assert message["text"].startswith("4 displays off as planned.")


def test_a_channel_gets_the_report_of_its_sites(connection: Connection, monday: datetime) -> None:
    site(connection, monday, "Basel", 3)
    go_silent(connection, monday, site(connection, monday, "Wil", 2))
    channel(connection, monday - HOUR, events=DAILY, sites=["Basel"])

    report(connection, monday)

    assert told(connection) == [("opened", "Daily report: all 3 displays well")]


def test_it_comes_at_seven_of_the_channels_zone_and_not_before_its_hours(
    connection: Connection, monday: datetime
) -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    hours = Hours("Asia/Tokyo", frozenset(Weekday), time(8), time(18))
    channel(connection, monday - 2 * DAY, events=DAILY, hours=hours)
    seven = datetime.combine(monday.date(), time(7), tokyo)

    assert report(connection, seven + 30 * MINUTE) == 0
    assert report(connection, seven + HOUR) == 1


def test_nothing_is_made_up_for_after_noon_or_for_a_channel_of_today(connection: Connection, monday: datetime) -> None:
    channel(connection, monday - HOUR, "Missed", events=DAILY)
    channel(connection, monday + HOUR, "New", events=DAILY)

    assert report(connection, monday + 5 * HOUR) == 0

    assert report(connection, monday + DAY) == 2


def test_a_week_is_reported_on_monday_the_worst_site_first(connection: Connection, monday: datetime) -> None:
    begins = monday - timedelta(days=7, hours=7)
    well = site(connection, monday, "Basel", 2)
    bad = site(connection, monday, "Wil", 1)
    mine = clients.c.uuid.in_([*well, *bad])
    connection.execute(sa.update(clients).where(mine).values(created_at=begins - DAY, status_since=begins - DAY))
    went_silent_for(connection, bad[0], begins + DAY, timedelta(days=3, hours=12))
    channel(connection, monday - HOUR, events=WEEKLY)

    told_on = [day for day in range(7) if report(connection, monday + day * DAY)]

    assert told_on == [0]
    [message] = messages(connection)
    assert message["title"] == "Weekly report: 83.3 % available"
    sunday = monday.date() - DAY
    assert message["text"].splitlines()[:3] == [
        f"{sunday - 6 * DAY} to {sunday}, while open.",
        "Wil: 50.0 %, down for 3 days.",
        "Basel: 100.0 %.",
    ]
    assert message["facts"]["event"] == "weekly_report"


def went_silent_for(connection: Connection, uuid: str, at: datetime, lasted: timedelta) -> None:
    """Write the changes of a display that was silent from `at` on, and then well again."""
    for when, was, became in ((at, "running", "stale"), (at + lasted, "stale", "running")):
        connection.execute(
            sa.text(
                "INSERT INTO client_state_changes (client_uuid, at, from_status, to_status, cause)"
                " VALUES (:uuid, :at, :was, :became, '{}')"
            ),
            {"uuid": uuid, "at": when, "was": was, "became": became},
        )


def test_a_report_is_no_standing_trouble(connection: Connection, monday: datetime) -> None:
    channel(connection, monday - HOUR, events=[*DAILY, NotificationEvent.RECOVERED])
    report(connection, monday)
    deliver_all(connection, monday)

    for minute in range(1, 60):
        assert decide(connection, monday + minute * MINUTE).recovered == 0
    assert len(told(connection)) == 1
