"""Notifications about one display: its services, its screen and its connection."""

from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.access import enrolment_operations
from shared.clients.logins_rules import SharedLogin
from shared.clients.reports import operations as reports
from shared.recovery import screens_store
from shared.recovery.screens_store import ScreensBreaker
from shared.tables import client_health, client_recovery, clients, notification_channels
from shared.vocabulary import NotificationEvent
from tests.stores.commands_world import seconds
from tests.stores.incidents_world import listen, lose, observe, site
from tests.stores.notifications_world import MINUTE, channel, decide, deliver_all, display, messages, told


def fail(connection: Connection, at: datetime, uuid: str, unit: str = "player.service") -> None:
    row = {"service_failed_at": at, "service_failed_unit": unit}
    connection.execute(sa.update(clients).where(clients.c.uuid == uuid).values(**row))


def show(connection: Connection, at: datetime | None, uuid: str, screen: str) -> None:
    """Record that its screen has failed since `at`; None: it does not fail."""
    row = {"screen_health": screen, "screen_health_since": at, "screen_failed_at": at}
    connection.execute(sa.update(clients).where(clients.c.uuid == uuid).values(**row))


def report(connection: Connection, at: datetime, uuid: str, body: dict[str, object]) -> None:
    connection.execute(sa.delete(client_health).where(client_health.c.client_uuid == uuid))
    connection.execute(sa.insert(client_health).values(client_uuid=uuid, received_at=at, body=body))


def settle(connection: Connection, at: datetime) -> None:
    decide(connection, at)
    deliver_all(connection, at)


def test_a_failed_service_is_told_after_the_delay_and_when_it_is_acknowledged(
    connection: Connection, now: datetime
) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    fail(connection, now + MINUTE, uuid)

    settle(connection, now + 2 * MINUTE)
    assert told(connection) == []
    for minutes in (3, 4, 90):
        settle(connection, now + minutes * MINUTE)
    row = {"service_failed_at": None, "service_failed_unit": None}
    connection.execute(sa.update(clients).values(**row))
    for minutes in (91, 92):
        settle(connection, now + minutes * MINUTE)

    title = "Lobby (Rome) has a failed service (player.service)"
    assert told(connection) == [("opened", title), ("recovered", f"Over: {title}")]
    assert messages(connection)[0]["facts"]["event"] == "service_failed"
    assert "It was" not in messages(connection)[-1]["text"]


def test_a_failed_service_that_the_display_calls_mended_is_over(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid, other = display(connection, now), display(connection, now, "Bar")
    fail(connection, now + MINUTE, uuid)
    fail(connection, now + MINUTE, other)
    report(connection, now + 3 * MINUTE, uuid, {"service_failed": {"unit": "player.service"}})
    report(connection, now + 3 * MINUTE, other, {"service_failed": None})
    settle(connection, now + 4 * MINUTE)
    report(connection, now + 5 * MINUTE, uuid, {"service_failed": None})
    settle(connection, now + 6 * MINUTE)

    title = "Lobby (Rome) has a failed service (player.service)"
    assert told(connection) == [("opened", title), ("recovered", f"Over: {title}")]


@pytest.mark.parametrize("screen", ["black", "frozen", "disconnected", "off"])
def test_a_bad_screen_is_told_after_the_delay_and_when_it_shows_something_again(
    connection: Connection, now: datetime, screen: str
) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    show(connection, now + MINUTE, uuid, screen)

    settle(connection, now + 2 * MINUTE)
    assert told(connection) == []
    settle(connection, now + 3 * MINUTE)
    show(connection, None, uuid, "ok")
    settle(connection, now + 4 * MINUTE)

    title = f"Lobby (Rome): its screen is {screen}" + (", and nobody planned that" if screen == "off" else "")
    assert told(connection) == [("opened", title), ("recovered", f"Over: {title}")]


@pytest.mark.parametrize("screen", ["off", "unknown"])
def test_a_bad_screen_that_is_no_failure_now_but_shows_nothing_ends_without_a_word(
    connection: Connection, now: datetime, screen: str
) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    show(connection, now + MINUTE, uuid, "black")
    settle(connection, now + 3 * MINUTE)

    show(connection, None, uuid, screen)
    settle(connection, now + 4 * MINUTE)
    show(connection, now + 70 * MINUTE, uuid, "black")
    settle(connection, now + 72 * MINUTE)

    assert told(connection) == [("opened", "Lobby (Rome): its screen is black")] * 2


def test_what_recovery_does_about_a_black_screen_is_told_with_it(connection: Connection, now: datetime) -> None:
    listen(connection, now + 3 * MINUTE)
    channel(connection, now)
    uuid = display(connection, now + 3 * MINUTE)
    show(connection, now + MINUTE, uuid, "black")

    settle(connection, now + 3 * MINUTE)

    assert "The screen is black; recovery waits for two new reports" in messages(connection)[0]["text"]


def test_a_black_screen_that_recovery_could_not_help_is_told(connection: Connection, now: datetime) -> None:
    channel(connection, now, events={NotificationEvent.DISPLAY_SUSPENDED})
    uuid = display(connection, now)
    show(connection, now + MINUTE, uuid, "black")
    row = {"client_uuid": uuid, "step": 4, "decided": "suspended", "decided_at": now + 2 * MINUTE}
    connection.execute(sa.insert(client_recovery).values(**row))

    settle(connection, now + 5 * MINUTE)
    settle(connection, now + 15 * MINUTE)

    assert told(connection) == [("opened", "Lobby (Rome) has a screen that is black: recovery has tried everything")]


def test_a_breaker_of_screens_is_told_and_when_it_closes(connection: Connection, now: datetime) -> None:
    channel(connection, now, events={NotificationEvent.BREAKER_OPEN, NotificationEvent.RECOVERED}, delay=0 * MINUTE)
    why = "At Rome, 9 of 9 screens are black."
    screens_store.put(connection, [ScreensBreaker("Rome", now + MINUTE, why)])
    settle(connection, now + 2 * MINUTE)

    screens_store.put(connection, [ScreensBreaker("Rome", None, None)])
    settle(connection, now + 3 * MINUTE)

    title = "Recovery holds back at Rome"
    assert told(connection) == [("opened", title), ("recovered", f"Over: {title}")]
    assert "9 of 9 screens" in messages(connection)[0]["text"]


def test_a_screen_that_is_off_by_plan_or_that_nobody_hears_of_is_no_trouble(
    connection: Connection, now: datetime
) -> None:
    channel(connection, now)
    off, silent = display(connection, now), display(connection, now)
    show(connection, None, off, "off")
    show(connection, now + MINUTE, silent, "black")
    connection.execute(sa.update(clients).where(clients.c.uuid == silent).values(status="unknown"))

    settle(connection, now + 10 * MINUTE)

    assert told(connection) == []


def test_unsteady_connections_are_one_list_a_day(connection: Connection, now: datetime) -> None:
    """One display began twenty minutes before the others, another later: neither gets a second list within the hour."""
    channel(connection, now - 60 * MINUTE, delay=0 * MINUTE)
    early, *late = [display(connection, now, f"Display {n}", f"Shop {n}") for n in range(12)]
    for turn in range(5):
        lose(connection, now + turn * MINUTE, [early], losses=2)
    settle(connection, now + 5 * MINUTE)
    assert told(connection) == []
    for turn in range(5, 12):
        lose(connection, now + turn * MINUTE, [early, *late[:10]], losses=2)
    settle(connection, now + 12 * MINUTE)
    for turn in range(12, 80):
        lose(connection, now + turn * MINUTE, [early, *late])
        settle(connection, now + turn * MINUTE)
    for turn in range(80, 200, 5):
        lose(connection, now + turn * MINUTE, [early, *late], losses=5)
        settle(connection, now + turn * MINUTE)

    assert told(connection) == [
        ("opened", "11 displays have an unsteady connection"),
        ("opened", "Display 11 (Shop 11): unsteady connection, 60 losses in the last hour"),
    ]
    assert "Display 0 (Shop 0): unsteady connection, 24 losses in the last hour" in messages(connection)[0]["text"]


def share(connection: Connection, at: datetime, uuid: str) -> None:
    """Note that two devices use the login; both were heard just now."""
    reports.note_shared_logins(connection, at, [SharedLogin(uuid, at)])


def test_a_login_that_two_devices_use_is_told_once_and_when_it_is_over(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    for minutes in range(1, 31):
        share(connection, now + minutes * MINUTE, uuid)
        settle(connection, now + minutes * MINUTE)
    title = "Lobby (Rome): two devices use its login"
    assert told(connection) == [("opened", title)]
    assert messages(connection)[0]["facts"]["since"] == (now + MINUTE).isoformat()

    settle(connection, now + 89 * MINUTE)
    assert told(connection) == [("opened", title)]
    settle(connection, now + 91 * MINUTE)

    assert told(connection) == [("opened", title), ("recovered", f"Over: {title}")]


def test_one_sight_of_a_second_device_is_not_told(connection: Connection, now: datetime) -> None:
    """A machine that is put back to a snapshot has its old boot again, once."""
    channel(connection, now)
    share(connection, now + MINUTE, display(connection, now))

    settle(connection, now + 10 * MINUTE)

    assert told(connection) == []


@pytest.mark.parametrize("ends", ["enrolled", "rotated", "revoked"])
def test_a_new_login_ends_a_shared_one_at_once(connection: Connection, now: datetime, ends: str) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    code, _ = enrolment_operations.issue_code(connection, now, uuid, "user:anna", 60 * MINUTE)
    login = enrolment_operations.enrol(connection, now, code)
    for minutes in (1, 2, 3):
        share(connection, now + minutes * MINUTE, uuid)
    settle(connection, now + 3 * MINUTE)
    at = now + 4 * MINUTE

    if ends == "enrolled":
        code, _ = enrolment_operations.issue_code(connection, at, uuid, "user:anna", 60 * MINUTE)
        enrolment_operations.enrol(connection, at, code)
    elif ends == "rotated":
        enrolment_operations.rotate(connection, at, uuid, login.password, "n" * 43)
    else:
        enrolment_operations.revoke(connection, at, uuid)
    for heard in (at - MINUTE, at + seconds(5)):  # the other device, before the broker ended its session
        assert reports.note_shared_logins(connection, at + MINUTE, [SharedLogin(uuid, heard)]) == set()
    settle(connection, at + MINUTE)

    title = "Lobby (Rome): two devices use its login"
    assert told(connection) == [("opened", title), ("recovered", f"Over: {title}")]


def test_a_login_that_is_shared_again_after_its_end_is_told_again(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    for minutes in (1, 2, 3, 90, 91, 92):
        share(connection, now + minutes * MINUTE, uuid)
        settle(connection, now + minutes * MINUTE)

    title = "Lobby (Rome): two devices use its login"
    assert told(connection) == [("opened", title), ("recovered", f"Over: {title}"), ("opened", title)]


def test_shared_logins_of_many_displays_are_one_message(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuids = [display(connection, now, f"Display {number}") for number in range(4)]
    for minutes in (1, 2, 3):
        reports.note_shared_logins(connection, now + minutes * MINUTE, [SharedLogin(u, now + MINUTE) for u in uuids])
    settle(connection, now + 3 * MINUTE)

    assert told(connection) == [("opened", "4 displays have a login that two devices use")]


def test_losses_that_were_an_incident_make_no_connection_unsteady(connection: Connection, now: datetime) -> None:
    """The broker was restarted four times within the hour."""
    listen(connection, now)
    channel(connection, now - 60 * MINUTE)
    fleet = site(connection, now, count=8)
    for turn in range(4):
        at = now + 10 * turn * MINUTE
        lose(connection, at, fleet)
        assert observe(connection, at + 2 * MINUTE + seconds(1)).joined == 8
        observe(connection, at + 8 * MINUTE)
    settle(connection, now + 39 * MINUTE)

    assert [title for _, title in told(connection) if "unsteady" in title] == []


def test_a_channel_that_nobody_is_told_of_displays_by_is_not_told_of_these(
    connection: Connection, now: datetime
) -> None:
    channel(connection, now, "Breakers", events={NotificationEvent.BREAKER_OPEN})
    only = channel(connection, now, "Screens", events={NotificationEvent.SCREEN_BAD})
    uuid = display(connection, now)
    show(connection, now + MINUTE, uuid, "black")

    settle(connection, now + 10 * MINUTE)

    assert told(connection) == told(connection, only) == [("opened", "Lobby (Rome): its screen is black")]
    row = connection.execute(sa.select(notification_channels).where(notification_channels.c.id == only)).one()
    assert (row.events, row.newer_events) == ([], ["screen_bad"])  # old code reads the first one


def test_many_failed_services_at_once_are_one_message(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuids = [display(connection, now, f"Display {n}", f"Shop {n}") for n in range(18)]
    for uuid in uuids:
        fail(connection, now + MINUTE, uuid)
    settle(connection, now + 4 * MINUTE)
    row = {"service_failed_at": None, "service_failed_unit": None}
    connection.execute(sa.update(clients).values(**row))
    settle(connection, now + 5 * MINUTE)

    assert told(connection) == [
        ("opened", "18 displays have a failed service"),
        ("recovered", "18 displays have no failed service any more"),
    ]
