"""Pictures of screens: which are accepted, what they prove, how many are kept, and sites that forbid them."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from displays.simulated.picture import draw
from extensions.screenshots import operations, store
from extensions.screenshots.rules import KEPT, Picture, read_jpeg
from shared.errors import CommandInFlight, NotCapable, ScreenshotNotFound, ScreenshotNotWanted, ScreenshotsOff
from shared.postgres.door import database_now
from shared.sites import pictures_operations
from shared.tables import (
    client_state_changes,
    clients,
    incident_members,
    incidents,
    screenshots,
    service_failure_events,
)
from shared.vocabulary import CommandAction
from shared.words.sentences import as_given, to_row
from tests.stores.commands_world import TIMINGS, add_client, command, issue, lockout, new_client, publish, say, state
from tests.stores.parallel import at_once

SCREENSHOT = CommandAction.SCREENSHOT
ABLE = {"capabilities": ["screenshot", "restart_app"]}
PICTURE: Picture = read_jpeg(draw("Lobby", "12:00", "running"))
SECOND = timedelta(seconds=1)


@pytest.fixture
def display(connection: Connection, now: datetime) -> str:
    return add_client(connection, now, site="Berlin", **ABLE)


def asked(connection: Connection, now: datetime, display: str) -> str:
    return issue(connection, now, display, SCREENSHOT)


def send(connection: Connection, now: datetime, display: str, name: str, age: timedelta = SECOND) -> None:
    operations.store_asked(connection, now, display, name, age, PICTURE)


def send_place(connection: Connection, now: datetime, display: str, place: int) -> None:
    operations.store_before_failure(connection, now, display, place, place * 60 * SECOND, PICTURE)


def crash(connection: Connection, display: str, at: datetime) -> None:
    values = {"client_uuid": display, "at": at, "from_status": "running", "to_status": "crashed", "cause": {}}
    connection.execute(sa.insert(client_state_changes).values(**values))


# --- the command ---


def test_a_display_that_declares_nothing_gets_no_screenshot(connection: Connection, now: datetime, client: str) -> None:
    with pytest.raises(NotCapable):
        issue(connection, now, client, SCREENSHOT)

    assert issue(connection, now, client, CommandAction.REBOOT_HOST)


def test_a_screenshot_neither_raises_a_lockout_nor_heeds_one(connection: Connection, now: datetime) -> None:
    display = add_client(connection, now, lockout_until=now + 60 * SECOND, **ABLE)

    asked(connection, now, display)

    assert lockout(connection, display) == now + 60 * SECOND


def test_the_stored_picture_ends_the_command_and_the_ack_confirms_it(
    connection: Connection, now: datetime, display: str
) -> None:
    name = asked(connection, now, display)
    publish(connection, now, name, 0)
    say(connection, now, display, name, "received", "running")

    send(connection, now + SECOND, display, name)

    assert state(connection, name) == ("succeeded", None)
    assert command(connection, name)["confirmed_by"] == "evidence"
    say(connection, now, display, name, "succeeded")
    assert command(connection, name)["confirmed_by"] == "both"


def test_success_that_a_display_only_says_is_a_failure(connection: Connection, now: datetime, display: str) -> None:
    name = asked(connection, now, display)
    say(connection, now, display, name, "received", "running")

    say(connection, now, display, name, "succeeded")

    assert state(connection, name) == ("failed", "no_picture")
    with pytest.raises(ScreenshotNotWanted):
        send(connection, now, display, name)


def test_success_said_too_late_is_kept_as_a_failure(connection: Connection, now: datetime, display: str) -> None:
    name = asked(connection, now, display)
    connection.execute(sa.text("UPDATE client_commands SET state = 'timed_out', finished_at = now()"))

    say(connection, now, display, name, "succeeded")

    assert command(connection, name)["late_state"] == "failed"


def test_a_display_that_says_failed_is_believed(connection: Connection, now: datetime, display: str) -> None:
    name = asked(connection, now, display)
    say(connection, now, display, name, "running")

    say(connection, now, display, name, "failed", reason="DevTools on port 9222 does not answer")

    assert state(connection, name) == ("failed", "DevTools on port 9222 does not answer")


# --- which pictures are accepted ---


def test_a_picture_sent_twice_is_stored_once(connection: Connection, now: datetime, display: str) -> None:
    name = asked(connection, now, display)

    send(connection, now, display, name)
    send(connection, now, display, name)

    [stored] = store.of_client(connection, display)
    assert (stored.command_id, stored.taken_at, stored.stored_at) == (name, now - SECOND, now)
    assert (stored.width, stored.height) == (960, 544)
    assert operations.find_jpeg(connection, stored.id).jpeg == PICTURE.jpeg


def test_of_two_that_send_the_same_at_once_one_is_stored(engine: Engine) -> None:
    display = new_client(engine, **ABLE)
    with engine.begin() as connection:
        name = asked(connection, database_now(connection), display)

    def sent() -> None:
        with engine.begin() as connection:
            send(connection, database_now(connection), display, name)

    at_once(4, sent)

    with engine.connect() as connection:
        assert len(store.of_client(connection, display)) == 1
        assert state(connection, name) == ("succeeded", None)


def test_a_display_cannot_answer_for_another_one(connection: Connection, now: datetime, display: str) -> None:
    name, other = asked(connection, now, display), add_client(connection, now, **ABLE)

    with pytest.raises(ScreenshotNotWanted):
        send(connection, now, other, name)

    assert store.of_client(connection, other) == []
    assert state(connection, name) == ("queued", None)


@pytest.mark.parametrize("what", ["nobody asked", "a restart", "it is over"])
def test_a_picture_that_nobody_waits_for_is_refused(
    connection: Connection, now: datetime, display: str, what: str
) -> None:
    name = "00000000-0000-4000-8000-000000000009"
    if what == "a restart":
        name = issue(connection, now, display)
    elif what == "it is over":
        name = asked(connection, now, display)
        say(connection, now, display, name, "rejected", reason="busy")

    with pytest.raises(ScreenshotNotWanted):
        send(connection, now, display, name)


def test_the_last_ten_stay(connection: Connection, now: datetime, display: str) -> None:
    names = []
    for number in range(KEPT + 2):
        names.append(asked(connection, now, display))
        send(connection, now + number * SECOND, display, names[-1])

    kept = [one.command_id for one in store.of_client(connection, display)]

    assert kept == names[::-1][:KEPT]


# --- before a failure ---


def test_a_picture_from_before_its_command_is_no_answer(connection: Connection, now: datetime, display: str) -> None:
    name = asked(connection, now, display)

    with pytest.raises(ScreenshotNotWanted):
        send(connection, now + SECOND, display, name, age=timedelta(minutes=1))

    assert state(connection, name)[0] == "queued"


def test_without_a_failure_the_last_pictures_are_not_wanted(
    connection: Connection, now: datetime, display: str
) -> None:
    crash(connection, display, now - timedelta(hours=1))

    with pytest.raises(ScreenshotNotWanted):
        send_place(connection, now, display, 1)


@pytest.mark.parametrize("what", ["crashed", "a service", "the screen"])
def test_the_last_pictures_before_a_failure_are_kept_once(
    connection: Connection, now: datetime, display: str, what: str
) -> None:
    at = now - 5 * SECOND
    if what == "crashed":
        crash(connection, display, at)
    elif what == "a service":
        values = {"client_uuid": display, "at": at, "event": "failed", "unit": "player.service"}
        connection.execute(sa.insert(service_failure_events).values(**values))
    else:
        said = {"screen_health": "black", "screen_health_since": at}
        connection.execute(sa.update(clients).where(clients.c.uuid == display).values(**said))

    for place in (1, 2, 2):
        send_place(connection, now, display, place)

    kept = store.of_client(connection, display)
    assert [one.taken_at for one in kept] == [now - 60 * SECOND, now - 120 * SECOND]
    assert {one.failure_at for one in kept} == {at}


def test_the_pictures_of_a_later_failure_replace_those_of_the_one_before(
    connection: Connection, now: datetime, display: str
) -> None:
    crash(connection, display, now - timedelta(minutes=29))
    send_place(connection, now, display, 1)
    name = asked(connection, now, display)
    send(connection, now, display, name)
    later = now + timedelta(minutes=20)
    crash(connection, display, later)

    send_place(connection, later, display, 1)

    kept = store.of_client(connection, display)
    assert {one.failure_at for one in kept} == {None, later}
    assert {one.command_id for one in kept} == {None, name}


def test_an_incident_shows_the_last_pictures_of_its_displays(
    connection: Connection, now: datetime, display: str
) -> None:
    crash(connection, display, now - 5 * SECOND)
    for place in (2, 1):
        send_place(connection, now, display, place)
    times = {"began_at": now - 5 * SECOND, "opened_at": now}
    row = {"kind": "cluster", "cause": to_row(as_given(text="?")), **times}
    made = sa.insert(incidents).values(**row).returning(incidents.c.id)
    number = connection.execute(made).scalar_one()
    joined = {"joined_at": now, "symptom": "crashed", "failed_at": now - 5 * SECOND}
    connection.execute(sa.insert(incident_members).values(incident_id=number, client_uuid=display, **joined))

    shown = store.of_incident(connection, number, 100)

    assert [one.taken_at for one in shown] == [now - 60 * SECOND, now - 120 * SECOND]
    assert store.of_incident(connection, number + 1, 100) == []


# --- sites that forbid pictures ---


def test_a_site_that_is_switched_off_shows_takes_and_keeps_nothing(
    connection: Connection, now: datetime, display: str
) -> None:
    send(connection, now, display, asked(connection, now, display))
    [stored] = store.of_client(connection, display)
    second = asked(connection, now, display)

    forgotten = operations.allow(connection, now, "Berlin", "anna", allowed=False)

    assert forgotten == 1
    with pytest.raises(ScreenshotsOff):
        send(connection, now, display, second)
    with pytest.raises(ScreenshotsOff):
        pictures_operations.check_allowed(connection, display)
    with pytest.raises(ScreenshotNotFound):
        operations.find_jpeg(connection, stored.id)
    assert store.sites_off(connection) == ["Berlin"]


def test_other_sites_go_on_and_a_display_that_moves_there_is_hidden(
    connection: Connection, now: datetime, display: str
) -> None:
    operations.allow(connection, now, "Paris", "anna", allowed=False)
    send(connection, now, display, asked(connection, now, display))
    [stored] = store.of_client(connection, display)

    connection.execute(sa.update(clients).where(clients.c.uuid == display).values(site="Paris"))

    assert store.of_client(connection, display) == []
    with pytest.raises(ScreenshotNotFound):
        operations.find_jpeg(connection, stored.id)
    operations.allow(connection, now, "Paris", "anna", allowed=True)
    assert store.of_client(connection, display) == []
    pictures_operations.check_allowed(connection, display)


def test_displays_without_a_site_have_a_switch_of_their_own(connection: Connection, now: datetime) -> None:
    nowhere = add_client(connection, now, **ABLE)

    operations.allow(connection, now, "", "anna", allowed=False)

    with pytest.raises(ScreenshotsOff):
        pictures_operations.check_allowed(connection, nowhere)


# --- deletion ---


def test_old_pictures_and_those_of_deleted_displays_go(connection: Connection, now: datetime, display: str) -> None:
    send(connection, now, display, asked(connection, now, display))
    gone = add_client(connection, now, **ABLE)
    send(connection, now + SECOND, gone, asked(connection, now, gone))
    connection.execute(sa.update(clients).where(clients.c.uuid == gone).values(deleted_at=now))

    store.drop_before(connection, now)

    left = sa.select(screenshots.c.client_uuid).where(screenshots.c.client_uuid.in_([display, gone]))
    assert connection.execute(left).scalars().all() == [display]
    store.drop_before(connection, now + SECOND)
    assert connection.execute(left).scalars().all() == []


def test_while_one_is_awaited_a_second_is_refused(connection: Connection, now: datetime, display: str) -> None:
    asked(connection, now, display)

    with pytest.raises(CommandInFlight):
        asked(connection, now, display)


def test_a_screenshot_that_nobody_answers_ends_soon() -> None:
    assert TIMINGS.ttl[SCREENSHOT] == TIMINGS.result[SCREENSHOT] == 30 * SECOND
