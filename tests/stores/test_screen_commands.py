"""screen_on and screen_off end by what the screen shows, and opening hours are wanted, told and kept."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients import hours_store
from shared.clients.hours_operations import set_hours
from shared.clients.hours_rules import OpeningHours, OpenTime, document, version_of
from shared.clients.hours_store import Kept, Untold
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import HealthReport
from shared.commands import operations
from shared.commands.proofs_operations import record_screens
from shared.errors import CommandInFlight, NotCapable, Refused
from shared.recovery import screens_operations
from shared.tables import client_hours, clients
from shared.vocabulary import CommandAction, ScreenHealthStatus, ScreenOffBy, Weekday
from tests.stores.commands_world import LOCKOUT, add_client, command, issue, lockout, say, seconds, state

ON, OFF = CommandAction.SCREEN_ON, CommandAction.SCREEN_OFF
ABLE = ["restart_app", "screen_on", "screen_off"]


@pytest.fixture
def display(connection: Connection, now: datetime) -> str:
    """A display that can switch its screen, and whose player runs."""
    return add_client(connection, now, capabilities=ABLE, presence="online", status="running", process_status="running")


def tell(
    connection: Connection,
    at: datetime,
    display: str,
    screen: str | None,
    *,
    by: ScreenOffBy | None = None,
    hours: str | None = None,
) -> None:
    """Store a health report."""
    word = None if screen is None else ScreenHealthStatus(screen)
    body = {} if screen is None else {"screen_health": screen}
    said = HealthReport(display, 0.0, body, word, capabilities=ABLE, screen_off_by=by, hours_version=hours)
    reports.record_health(connection, at, 0.0, [said], [])


# --- the screen is the proof ---


@pytest.mark.parametrize(
    ("action", "screen"), [(OFF, "off"), (ON, "ok"), (ON, "black"), (ON, "frozen"), (ON, "unknown")]
)
def test_the_screen_ends_the_command_and_the_displays_word_does_not(
    connection: Connection, now: datetime, display: str, action: CommandAction, screen: str
) -> None:
    name = issue(connection, now, display, action)
    say(connection, now + seconds(1), display, name, "received", "running", "succeeded")
    assert state(connection, name) == ("running", None)

    tell(connection, now + seconds(2), display, screen)
    assert len(record_screens(connection, now + seconds(2), [display])) == 1
    assert record_screens(connection, now + seconds(3), [display]) == ()

    assert state(connection, name) == ("succeeded", None)
    assert command(connection, name)["confirmed_by"] == "evidence"
    say(connection, now + seconds(3), display, name, "succeeded")
    assert command(connection, name)["confirmed_by"] == "both"


NO_PROOF: list[tuple[CommandAction, str | None, float, Sequence[str], str]] = [
    (OFF, "ok", 2, ("received",), "the screen is on"),
    (OFF, "disconnected", 2, ("received",), "no screen is no proof"),
    (OFF, "unknown", 2, ("received",), "nobody sees it"),
    (OFF, None, 2, ("received",), "the report says nothing of the screen"),
    (OFF, "off", -1, ("received",), "the report is older than the command"),
    (OFF, "off", 2, (), "the display has not got it"),
    (ON, "off", 2, ("received",), "the screen is off"),
    (ON, "disconnected", 2, ("received",), "no screen is no proof"),
]


@pytest.mark.parametrize(("action", "screen", "after", "words", "note"), NO_PROOF, ids=lambda value: str(value)[:24])
def test_without_the_screen_itself_nothing_is_proven(
    connection: Connection,
    now: datetime,
    display: str,
    action: CommandAction,
    screen: str | None,
    after: float,
    words: Sequence[str],
    note: str,
) -> None:
    tell(connection, now - seconds(60), display, "ok")
    name = issue(connection, now, display, action)
    if words:
        say(connection, now + seconds(1), display, name, *words)
    tell(connection, now + seconds(after), display, screen)

    assert record_screens(connection, now + seconds(3), [display]) == (), note
    assert operations.expire(connection, now + seconds(3)).proven == 0


def test_the_tick_finds_the_proof_of_a_report_that_only_repeats(
    connection: Connection, now: datetime, display: str
) -> None:
    name = issue(connection, now, display, OFF)
    tell(connection, now + seconds(1), display, "off")
    say(connection, now + seconds(2), display, name, "received")

    assert operations.expire(connection, now + seconds(60)).proven == 1
    assert state(connection, name)[0] == "succeeded"


@pytest.mark.parametrize(("action", "screen"), [(OFF, "ok"), (ON, "off")])
def test_a_screen_that_still_shows_the_opposite_has_not_switched(
    connection: Connection, now: datetime, display: str, action: CommandAction, screen: str
) -> None:
    name = issue(connection, now, display, action)
    say(connection, now, display, name, "received", "running", "succeeded")

    tell(connection, now + seconds(29), display, screen)
    assert operations.expire(connection, now + seconds(29)).disproved == 0
    tell(connection, now + seconds(30), display, screen)
    assert operations.expire(connection, now + seconds(31)).disproved == 1

    assert state(connection, name) == ("failed", "screen_did_not_switch")


def test_a_display_that_cannot_see_its_screen_leaves_the_command_without_a_result(
    connection: Connection, now: datetime, display: str
) -> None:
    name = issue(connection, now, display, OFF)
    say(connection, now, display, name, "received", "running", "succeeded")
    tell(connection, now + seconds(60), display, "unknown")

    operations.expire(connection, now + seconds(181))

    assert state(connection, name) == ("timed_out", "no_result")


def test_it_is_refused_where_it_is_not_declared_and_holds_other_commands_back(
    connection: Connection, now: datetime, client: str, display: str
) -> None:
    with pytest.raises(NotCapable):
        issue(connection, now, client, OFF)
    issue(connection, now, display, OFF)
    with pytest.raises(CommandInFlight):
        issue(connection, now, display, ON)


def test_a_lockout_holds_no_screen_back_and_a_screen_locks_nothing(
    connection: Connection, now: datetime, display: str
) -> None:
    until = now + LOCKOUT
    connection.execute(sa.update(clients).where(clients.c.uuid == display).values(lockout_until=until))

    name = issue(connection, now, display, OFF)
    say(connection, now + seconds(1), display, name, "received")

    assert lockout(connection, display) == until


# --- off by plan is no fault ---


@pytest.mark.parametrize(
    ("said", "fails"),
    [
        ([ScreenOffBy.COMMAND] * 5, False),
        ([ScreenOffBy.HOURS] * 5, False),
        ([None] * 5, True),
        ([ScreenOffBy.HOURS, ScreenOffBy.HOURS, None, None], True),
    ],
    ids=["by a command", "by its hours", "by nobody", "when its hours were over"],
)
def test_a_screen_that_is_off_by_plan_does_not_fail(
    connection: Connection, now: datetime, display: str, said: Sequence[ScreenOffBy | None], fails: bool
) -> None:
    for minute, by in enumerate(said):
        tell(connection, now + timedelta(minutes=minute), display, "off", by=by)
        screens_operations.judge_off(connection, now + timedelta(minutes=minute))

    row = sa.select(clients.c.screen_failed_at).where(clients.c.uuid == display)
    assert (connection.execute(row).scalar_one() is not None) is fails


# --- opening hours ---

WEEK = OpeningHours("Europe/Berlin", (OpenTime(tuple(Weekday), "08:00", "20:00"),))
VERSION = version_of(WEEK)


def untold(connection: Connection, *told: Kept) -> list[Untold]:
    return hours_store.untold(connection, told, 10)


def test_hours_are_told_until_the_display_says_that_it_keeps_them(
    connection: Connection, now: datetime, display: str
) -> None:
    tell(connection, now, display, "ok")
    assert untold(connection) == []

    assert set_hours(connection, now, [display], WEEK) == [display]
    assert set_hours(connection, now, [display], WEEK) == []
    assert untold(connection) == [Untold(display, VERSION, document(WEEK))]
    assert untold(connection, Kept(display, VERSION)) == [], "told a moment ago"
    assert untold(connection, Kept(display, "older")) != [], "but not these"

    tell(connection, now + seconds(1), display, "ok", hours=VERSION)
    assert untold(connection) == []
    tell(connection, now + seconds(2), display, "ok", hours="of a restored image")
    assert untold(connection) == [Untold(display, VERSION, document(WEEK))]


def test_hours_that_are_taken_away_are_told_too(connection: Connection, now: datetime, display: str) -> None:
    set_hours(connection, now, [display], WEEK)
    tell(connection, now, display, "ok", hours=VERSION)

    assert set_hours(connection, now, [display], None) == [display]
    assert set_hours(connection, now, [display], None) == []
    assert untold(connection) == [Untold(display, None, None)]
    assert connection.execute(sa.select(client_hours)).all() == []
    tell(connection, now, display, "ok", hours="of the database of before")  # which a restored one does not know
    assert untold(connection) == [Untold(display, None, None)]


@pytest.mark.parametrize(
    "facts",
    [{"capabilities": ["screen_on"]}, {"capabilities": None}, {"presence": "offline"}, {"deleted_at": "now"}],
    ids=["half able", "not able", "offline", "deleted"],
)
def test_hours_wait_for_a_display_that_can_follow_them(
    connection: Connection, now: datetime, display: str, facts: dict[str, object]
) -> None:
    set_hours(connection, now, [display], WEEK)
    values = {name: now if value == "now" else value for name, value in facts.items()}
    connection.execute(sa.update(clients).where(clients.c.uuid == display).values(**values))

    assert untold(connection) == []


def test_bad_hours_are_refused_before_anything_is_written(connection: Connection, now: datetime, display: str) -> None:
    bad = OpeningHours("Europe/Berlin", (OpenTime((Weekday.MONDAY,), "8", "20:00"),))
    with pytest.raises(Refused):
        set_hours(connection, now, [display], bad)

    assert untold(connection) == []
