"""A display that is well is asked for seldom heartbeats; one in doubt, or without a connection, is judged as usual."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients import intervals_store, statuses_operations
from shared.clients.intervals_rules import INTERVAL, LOSS_TAKES, USUAL_SECONDS, Calm
from shared.clients.intervals_store import Wish
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import PresenceReport
from shared.leadership.rules import Listening
from shared.tables import client_heartbeats, client_limits, client_recovery, clients, incident_members, incidents
from shared.vocabulary import Presence
from tests.stores.commands_world import add_client, issue, seconds

CALM = 120
LONG_AGO = timedelta(hours=1)
STALE = 180


def a_display(connection: Connection, now: datetime, confirmed: int = USUAL_SECONDS, **facts: Any) -> str:
    """A display that takes wishes, is connected and well for an hour, and follows this interval."""
    well = {"presence": "online", "presence_at": now - LONG_AGO, "status": "running", "process_status": "running"}
    since = {"status_since": now - LONG_AGO, "capabilities": ["restart_app", INTERVAL]}
    name = add_client(connection, now, **{**well, **since, **facts})
    beat(connection, name, interval_seconds=confirmed)
    return name


def beat(connection: Connection, name: str, **changed: Any) -> None:
    mine = client_heartbeats.c.client_uuid == name
    connection.execute(sa.update(client_heartbeats).where(mine).values(**changed))


def wishes(
    connection: Connection, now: datetime, calm: int = CALM, told: tuple[Wish, ...] = (), fleet: int = 1
) -> list[Wish]:
    return intervals_store.wishes(connection, now, Calm(calm, fleet), told, 100)


def test_a_display_that_is_well_is_asked_for_seldom_heartbeats_until_it_confirms(
    connection: Connection, now: datetime
) -> None:
    name = a_display(connection, now)
    assert wishes(connection, now) == [Wish(name, CALM)]
    assert wishes(connection, now, told=(Wish(name, CALM),)) == []

    beat(connection, name, interval_seconds=CALM)

    assert wishes(connection, now) == []


def test_in_a_small_fleet_nobody_is_asked_to_be_calm(connection: Connection, now: datetime) -> None:
    """A display that is offline, or cannot be asked, makes it no larger."""
    names = [a_display(connection, now) for _ in range(2)]
    a_display(connection, now, capabilities=None)
    a_display(connection, now, presence="offline")

    assert wishes(connection, now, fleet=3) == []
    assert sorted(one.uuid for one in wishes(connection, now, fleet=2)) == sorted(names)


def test_with_the_usual_interval_as_the_calm_one_nobody_stays_calm(connection: Connection, now: datetime) -> None:
    calm, quick = a_display(connection, now, CALM), a_display(connection, now, 10)

    assert wishes(connection, now, USUAL_SECONDS) == [Wish(calm, USUAL_SECONDS)], quick


@pytest.mark.parametrize(
    ("facts", "note"),
    [
        ({"capabilities": ["restart_app"]}, "it does not take wishes"),
        ({"capabilities": None}, "it declares nothing"),
        ({"presence": "offline"}, "it would not get it"),
        ({"presence": "unknown"}, "nobody knows whether it would get it"),
    ],
)
def test_a_display_that_cannot_take_a_wish_gets_none(
    connection: Connection, now: datetime, facts: dict[str, Any], note: str
) -> None:
    a_display(connection, now, CALM, process_status="crashed", **facts)

    assert wishes(connection, now) == [], note


def opens_a_command(connection: Connection, now: datetime, name: str) -> None:
    issue(connection, now, name)
    unlocked = sa.update(clients).where(clients.c.uuid == name).values(lockout_until=None)
    connection.execute(unlocked)


def climbs_the_ladder(connection: Connection, now: datetime, name: str) -> None:
    connection.execute(sa.insert(client_recovery).values(client_uuid=name, step=1))


def joins_an_incident(connection: Connection, now: datetime, name: str) -> None:
    times = {"began_at": now, "opened_at": now}
    made = sa.insert(incidents).values(kind="cluster", cause="?", **times).returning(incidents.c.id)
    number = connection.execute(made).scalar_one()
    joined = {"joined_at": now, "symptom": "disconnected", "failed_at": now}
    connection.execute(sa.insert(incident_members).values(incident_id=number, client_uuid=name, **joined))


def passes_a_limit(connection: Connection, now: datetime, name: str) -> None:
    times = {"over_since": now, "passed_at": now}
    connection.execute(sa.insert(client_limits).values(client_uuid=name, kind="disk", value=99, limit_at=90, **times))


def changed(**facts: Any) -> Callable[[Connection, datetime, str], None]:
    def change(connection: Connection, now: datetime, name: str) -> None:
        moments = {key: now + value if isinstance(value, timedelta) else value for key, value in facts.items()}
        connection.execute(sa.update(clients).where(clients.c.uuid == name).values(**moments))

    return change


DISTURBANCES: list[tuple[str, Callable[[Connection, datetime, str], None]]] = [
    ("a command is open", opens_a_command),
    ("recovery is at it", climbs_the_ladder),
    ("it is part of an incident", joins_an_incident),
    ("a health limit is passed", passes_a_limit),
    ("it has crashed", changed(status="crashed", process_status="crashed")),
    ("it is late", changed(status="late")),
    ("it is starting", changed(status="starting", process_status="starting")),
    ("its service failed", changed(service_failed_at=seconds(-60), service_failed_unit="player.service")),
    ("its screen is black", changed(screen_health="black", screen_health_since=seconds(-60))),
    ("its screen is off, and nobody planned that", changed(screen_health="off", screen_health_since=seconds(-60))),
    ("it runs only for a minute", changed(status_since=seconds(-60))),
    ("it is connected only for a minute", changed(presence_at=seconds(-60))),
    ("a restart ended a moment ago", changed(lockout_until=seconds(60))),
    ("two devices share its login", changed(shared_login_seen_at=seconds(-600))),
    ("its counter went back", changed(counter_went_back_at=seconds(-30))),
    ("its heartbeat is overdue", lambda connection, now, name: beat(
        connection, name, last_heartbeat_at=now - seconds(CALM + 46))),
]  # fmt: skip


@pytest.mark.parametrize(("note", "disturb"), DISTURBANCES, ids=[note for note, _ in DISTURBANCES])
def test_whatever_is_open_or_doubtful_asks_for_usual_heartbeats(
    connection: Connection, now: datetime, note: str, disturb: Callable[[Connection, datetime, str], None]
) -> None:
    name, other = a_display(connection, now, CALM), a_display(connection, now, CALM)
    disturb(connection, now, name)

    assert wishes(connection, now, told=(Wish(name, CALM),)) == [Wish(name, USUAL_SECONDS)], (note, other)


def test_a_screen_that_is_off_by_plan_disturbs_nobody(connection: Connection, now: datetime) -> None:
    name = a_display(connection, now, screen_health="off", screen_health_since=now - LONG_AGO, screen_off_by="hours")

    assert wishes(connection, now) == [Wish(name, CALM)]


@pytest.mark.parametrize("status", ["late", "stale", "unknown"])
def test_a_display_in_doubt_is_asked_for_a_heartbeat_at_the_usual_interval_too(
    connection: Connection, now: datetime, status: str
) -> None:
    name = a_display(connection, now, status=status)

    assert wishes(connection, now) == [Wish(name, USUAL_SECONDS)]


def say(connection: Connection, now: datetime, name: str, state: Presence) -> set[str]:
    return reports.record_presence(connection, now, [PresenceReport(name, state, "session")]).judged_anew


def status_at(connection: Connection, at: datetime, name: str) -> str:
    listening = Listening(False, at - LONG_AGO, None)
    statuses_operations.sweep(connection, at, STALE, listening)
    return str(connection.execute(sa.select(clients.c.status).where(clients.c.uuid == name)).scalar_one())


def test_a_calm_display_that_loses_power_is_late_and_stale_as_soon_as_any_other(
    connection: Connection, now: datetime
) -> None:
    """Its last heartbeat came 110 s before it lost its power; the will comes up to 70 s after that."""
    name = a_display(connection, now, CALM, presence_session="session")
    lost_at = now + seconds(110)
    offline_at = lost_at + LOSS_TAKES

    assert say(connection, offline_at, name, Presence.OFFLINE) == {name}

    assert status_at(connection, offline_at, name) == "running"
    assert status_at(connection, lost_at + seconds(91), name) == "late"
    assert status_at(connection, lost_at + seconds(179), name) == "late"
    assert status_at(connection, lost_at + seconds(181), name) == "stale"


def test_a_display_silent_before_its_connection_ended_does_not_seem_well_again(
    connection: Connection, now: datetime
) -> None:
    name = a_display(connection, now, CALM, presence_session="session", status="stale")

    assert say(connection, now + seconds(400), name, Presence.OFFLINE) == {name}

    heard_at = connection.execute(sa.select(client_heartbeats.c.last_heartbeat_at)).scalar_one()
    assert heard_at == now
    assert status_at(connection, now + seconds(401), name) == "stale"


def test_a_connection_that_ends_changes_nothing_for_displays_that_speak_as_usual(
    connection: Connection, now: datetime
) -> None:
    usual = a_display(connection, now, presence_session="session")
    own = a_display(connection, now, CALM, capabilities=["restart_app"], presence_session="session")

    assert say(connection, now + seconds(600), usual, Presence.OFFLINE) == set()
    assert say(connection, now + seconds(600), own, Presence.OFFLINE) == set()

    kept = connection.execute(sa.select(client_heartbeats.c.last_heartbeat_at, client_heartbeats.c.interval_seconds))
    assert sorted(kept.all()) == [(now, USUAL_SECONDS), (now, CALM)]


def test_a_late_will_of_an_earlier_session_does_not_end_the_calm(connection: Connection, now: datetime) -> None:
    name = a_display(connection, now, CALM, presence_session="another")

    assert say(connection, now, name, Presence.OFFLINE) == set()
