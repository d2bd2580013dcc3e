"""A shop closes, its displays go off, and it opens again: nobody is bothered, and nothing is forgotten."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.incidents import operations as incidents
from shared.incidents import timeline_store
from shared.incidents.timeline_store import IncidentFilter
from shared.postgres.door import database_now
from shared.quiet import hours_rules
from shared.quiet.rules import AFTER_OPENING
from shared.recovery import operations as recovery
from shared.tables import client_commands, recovery_breakers
from shared.words.reader import english
from tests.stores.commands_world import TIMINGS
from tests.stores.incidents_world import change, go_silent, listen, site
from tests.stores.notifications_world import SETTINGS, channel, decide, told
from tests.stores.quiet_world import EVERY_DAY, opening_hours
from tests.stores.recovery_world import beat, hear

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
SHOP = "Shop Basel"


class Night:
    """A shop of twelve displays that closes now and opens in eleven hours, and a fleet that runs."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        self.connection, self.closes = connection, now.replace(second=0, microsecond=0)
        self.opens = self.closes + 11 * HOUR
        self.displays = site(connection, self.closes, SHOP, 12)
        self.others = site(connection, self.closes, "Linz", 80)
        spans = (hours_rules.span(EVERY_DAY, f"{self.opens:%H:%M}", f"{self.closes:%H:%M}", None),)
        opening_hours(connection, self.closes - HOUR, spans, SHOP)
        channel(connection, self.closes - 2 * HOUR)
        self.tick(self.closes + 5 * MINUTE)

    def tick(self, at: datetime) -> None:
        """The steps of a tick that judge displays; all of the other displays are heard."""
        listen(self.connection, at)
        hear(self.connection, at)
        beat(self.connection, self.others, at)
        incidents.observe(self.connection, at)
        recovery.recover(self.connection, at, SETTINGS, TIMINGS)
        decide(self.connection, at)

    def run(self, begins: datetime, ends: datetime) -> None:
        while begins < ends:
            self.tick(begins)
            begins += MINUTE

    @property
    def commands(self) -> int:
        return int(self.connection.execute(sa.select(sa.func.count()).select_from(client_commands)).scalar_one())

    @property
    def causes(self) -> list[str]:
        return [english(row.cause) for row in timeline_store.page(self.connection, IncidentFilter(), 100, None)]

    @property
    def breakers(self) -> set[str]:
        opened = sa.select(recovery_breakers.c.site).where(recovery_breakers.c.open_since.is_not(None))
        return set(self.connection.execute(opened).scalars())


@pytest.fixture
def now(connection: Connection) -> datetime:
    return database_now(connection)


@pytest.fixture
def night(connection: Connection, now: datetime) -> Night:
    return Night(connection, now)


@pytest.mark.parametrize("minutes", [3, AFTER_OPENING // MINUTE])
def test_displays_that_come_on_as_the_shop_opens_were_never_a_trouble(night: Night, minutes: int) -> None:
    go_silent(night.connection, night.closes + 10 * MINUTE, night.displays)
    night.run(night.closes + 11 * MINUTE, night.closes + 40 * MINUTE)
    night.run(night.opens - 5 * MINUTE, night.opens + minutes * MINUTE)

    change(night.connection, night.opens + minutes * MINUTE, night.displays, "running")
    for minute in range(minutes, 30):
        beat(night.connection, night.displays, night.opens + minute * MINUTE)
        night.tick(night.opens + minute * MINUTE)

    assert (told(night.connection), night.commands, night.causes, night.breakers) == ([], 0, [], set())


def test_what_fell_silent_together_in_the_night_is_one_incident_after_opening(night: Night) -> None:
    go_silent(night.connection, night.closes + 3 * HOUR, night.displays)
    night.run(night.closes + 3 * HOUR + MINUTE, night.closes + 3 * HOUR + 20 * MINUTE)
    night.run(night.opens - 3 * MINUTE, night.opens + AFTER_OPENING)
    before = (told(night.connection), night.causes)

    night.run(night.opens + AFTER_OPENING, night.opens + AFTER_OPENING + 10 * MINUTE)

    assert before == ([], [])
    [cause] = night.causes
    assert cause.startswith(f"12 of 12 displays at site {SHOP} went silent within 11 s")
    assert told(night.connection) == [("opened", f"12 displays at {SHOP} failed together")]
    assert (night.commands, night.breakers) == (0, {SHOP})  # so many at once: nobody is rebooted


def test_displays_that_fell_silent_singly_at_night_are_each_told_of_after_opening(night: Night) -> None:
    first, second = night.displays[:2]
    go_silent(night.connection, night.closes + 2 * HOUR, [first])
    go_silent(night.connection, night.closes + 5 * HOUR, [second])

    def look(begins: datetime, ends: datetime) -> None:
        while begins < ends:
            beat(night.connection, night.displays[2:], begins)
            night.tick(begins)
            begins += MINUTE

    look(night.opens - 2 * MINUTE, night.opens + AFTER_OPENING)
    silent = (told(night.connection), night.commands)
    look(night.opens + AFTER_OPENING, night.opens + AFTER_OPENING + 5 * MINUTE)

    assert silent == ([], 0)
    assert len(told(night.connection)) == 2
    assert night.causes == []
    rebooted = sa.select(client_commands.c.client_uuid, client_commands.c.action)
    assert sorted(night.connection.execute(rebooted).all()) == sorted([(one, "reboot_host") for one in (first, second)])


def test_a_display_that_fails_while_the_shop_is_open_is_told_of_at_once(night: Night) -> None:
    """The time to start is for what failed before the shop opened."""
    began = night.opens + 4 * MINUTE
    for minute in range(-2, 4):
        beat(night.connection, night.displays, night.opens + minute * MINUTE)
        night.tick(night.opens + minute * MINUTE)
    go_silent(night.connection, began, night.displays, heard_before=60)

    night.tick(began + MINUTE)
    night.tick(began + 3 * MINUTE)

    assert len(night.causes) == 1
    assert told(night.connection) == [("opened", f"12 displays at {SHOP} failed together")]


def test_without_opening_hours_the_same_night_is_an_incident_at_once(connection: Connection, now: datetime) -> None:
    """So the tests above would fail if quiet times were ignored."""
    night = Night(connection, now)
    connection.execute(sa.text("DELETE FROM quiet_times"))
    go_silent(connection, night.closes + 10 * MINUTE, night.displays)

    night.run(night.closes + 11 * MINUTE, night.closes + 20 * MINUTE)

    assert len(night.causes) == 1
    assert len(told(connection)) == 1
