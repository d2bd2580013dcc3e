"""Notifications about one display: its services, its screen and its connection."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.access import enrolment_operations
from shared.clients import failures_operations
from shared.clients.logins_rules import SharedLogin
from shared.clients.reports import operations as reports
from shared.tables import client_health, client_recovery, clients
from shared.vocabulary import NotificationEvent
from tests.stores.commands_world import seconds
from tests.stores.incidents_world import listen, lose, observe, site
from tests.stores.notifications_world import MINUTE, channel, display, messages, settle, told

pytestmark = pytest.mark.usefixtures("makers")


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


def acknowledge(connection: Connection, _at: datetime, uuid: str) -> None:
    row = {"service_failed_at": None, "service_failed_unit": None}
    connection.execute(sa.update(clients).where(clients.c.uuid == uuid).values(**row))


def fail_and_repeat_it(connection: Connection, at: datetime, uuid: str) -> None:
    fail(connection, at, uuid)
    report(connection, at + MINUTE, uuid, {"service_failed": {"unit": "player.service"}})


def call_it_mended(connection: Connection, at: datetime, uuid: str) -> None:
    report(connection, at, uuid, {"service_failed": None})
    failures_operations.end_mended(connection, at)


def show_content(connection: Connection, _at: datetime, uuid: str) -> None:
    show(connection, None, uuid, "ok")


Change = Callable[[Connection, datetime, str], None]
TROUBLES: list[tuple[Change, Change, str, str]] = [
    (fail, acknowledge, "Lobby (Rome) has a failed service (player.service)", "service_failed"),
    (fail_and_repeat_it, call_it_mended, "Lobby (Rome) has a failed service (player.service)", "service_failed"),
    (partial(show, screen="black"), show_content, "Lobby (Rome): its screen is black", "screen_bad"),
    (partial(show, screen="frozen"), show_content, "Lobby (Rome): its screen is frozen", "screen_bad"),
    (partial(show, screen="disconnected"), show_content, "Lobby (Rome): its screen is disconnected", "screen_bad"),
    (
        partial(show, screen="off"),
        show_content,
        "Lobby (Rome): its screen is off, and nobody planned that",
        "screen_bad",
    ),
]


@pytest.mark.parametrize(("begin", "end", "title", "event"), TROUBLES)
def test_a_trouble_of_a_display_is_told_after_the_delay_and_when_it_is_over(
    connection: Connection, now: datetime, begin: Change, end: Change, title: str, event: str
) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    begin(connection, now + MINUTE, uuid)

    settle(connection, now + 2 * MINUTE)
    assert told(connection) == []
    settle(connection, *(now + minutes * MINUTE for minutes in (3, 4, 90)))
    assert told(connection) == [("opened", title)]
    end(connection, now + 91 * MINUTE, uuid)
    settle(connection, now + 91 * MINUTE)
    at_once = told(connection)
    settle(connection, now + 92 * MINUTE)

    assert at_once == told(connection) == [("opened", title), ("recovered", f"Over: {title}")]
    assert messages(connection)[0]["facts"]["event"] == event
    assert "It was" not in messages(connection)[-1]["text"]


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


def test_a_screen_off_by_plan_or_unheard_and_a_mended_service_are_no_trouble(
    connection: Connection, now: datetime
) -> None:
    channel(connection, now)
    off, silent, mended = (display(connection, now) for _ in range(3))
    show(connection, None, off, "off")
    show(connection, now + MINUTE, silent, "black")
    connection.execute(sa.update(clients).where(clients.c.uuid == silent).values(status="unknown"))
    fail(connection, now + MINUTE, mended)
    call_it_mended(connection, now + 3 * MINUTE, mended)

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


SHARED = "Lobby (Rome): two devices use its login"


def share(connection: Connection, at: datetime, uuid: str) -> None:
    """Note that two devices use the login; both were heard just now."""
    reports.note_shared_logins(connection, at, [SharedLogin(uuid, at)])


def test_a_login_that_two_devices_use_is_told_once_and_when_it_is_over(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    for minutes in range(1, 31):
        share(connection, now + minutes * MINUTE, uuid)
        settle(connection, now + minutes * MINUTE)
    assert told(connection) == [("opened", SHARED)]
    assert messages(connection)[0]["facts"]["since"] == (now + MINUTE).isoformat()

    settle(connection, now + 89 * MINUTE)
    assert told(connection) == [("opened", SHARED)]
    settle(connection, now + 91 * MINUTE)

    assert told(connection) == [("opened", SHARED), ("recovered", f"Over: {SHARED}")]


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

    assert told(connection) == [("opened", SHARED), ("recovered", f"Over: {SHARED}")]


def test_a_login_that_is_shared_again_after_its_end_is_told_again(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    for minutes in (1, 2, 3, 90, 91, 92):
        share(connection, now + minutes * MINUTE, uuid)
        settle(connection, now + minutes * MINUTE)

    assert told(connection) == [("opened", SHARED), ("recovered", f"Over: {SHARED}"), ("opened", SHARED)]


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
