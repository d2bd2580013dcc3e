"""The names of sites on real Postgres: a rename takes everything along, and a shop that loses its displays is told."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.access import operations as access
from shared.access.people import operations as people
from shared.access.rules import AuditLine
from shared.clients import store as clients_store
from shared.errors import SiteExists, SiteNotFound
from shared.postgres.door import database_now
from shared.sites import operations, store
from shared.tables import (
    api_tokens,
    clients,
    command_schedules,
    incidents,
    notification_channels,
    notification_deliveries,
    quiet_times,
    recovery_breakers,
    screenshots_off,
    status_links,
    users,
)
from shared.vocabulary import Role
from shared.words.sentences import as_given, to_row
from tests.stores.commands_world import add_client
from tests.stores.notifications_world import MINUTE, channel, decide, messages, settle, told

OLD, NEW, OTHER = "Köln", "Köln Süd", "Bonn"
EVER: Final = timedelta(days=3650)


def rename(connection: Connection, before: str, after: str, *, merges: bool = False) -> operations.RenamedSite:
    return operations.rename(connection, database_now(connection), before, after, "user:anna", merges=merges)


def person(connection: Connection, site: str) -> None:
    name = f"person{connection.execute(sa.select(sa.func.count()).select_from(users)).scalar_one()}"
    people.add(connection, database_now(connection), name, Role.OPERATOR, "hash", EVER, [site, OTHER])


def token(connection: Connection, site: str) -> None:
    access.issue_token(connection, database_now(connection), "script", Role.VIEWER, "user:anna", None, [site])


def a_channel(connection: Connection, site: str) -> None:
    number = connection.execute(sa.select(sa.func.count()).select_from(notification_channels)).scalar_one()
    channel(connection, database_now(connection), f"Channel {number}", sites=[site])


def quiet_time(connection: Connection, site: str, **more: Any) -> None:
    now = database_now(connection)
    row: dict[str, Any] = {"preset": "leave_out", "quiet": ["recovery"], "scope": "site", "site": site}
    row |= {"reason": "building work"}
    row |= {"starts_at": now, "created_by": "user:anna", "created_at": now}
    connection.execute(sa.insert(quiet_times).values(**(row | more)))


def opening_hours(connection: Connection, site: str) -> None:
    spans = [{"days": ["monday"], "begins": "08:00", "ends": "20:00", "nights": 0}]
    more = {"preset": "opening_hours", "quiet": ["screen"], "spans": spans, "time_zone": "Europe/Berlin"}
    quiet_time(connection, site, **more)


def schedule(connection: Connection, site: str) -> None:
    now = database_now(connection)
    number = connection.execute(sa.select(sa.func.count()).select_from(command_schedules)).scalar_one()
    row: dict[str, Any] = {"id": f"00000000-0000-4000-8000-{number:012}", "action": "restart_app", "reason": ""}
    row |= {"waves": ["rest"]}
    row |= {"filter": {"site": site, "tag": "wall"}, "max_unproven": "10%", "time_zone": "UTC", "at": now + EVER}
    row |= {"weekdays": [], "next_at": now + EVER, "created_by": "user:anna", "created_at": now}
    connection.execute(sa.insert(command_schedules).values(**row))


def link(connection: Connection, site: str) -> None:
    now = database_now(connection)
    number = connection.execute(sa.select(sa.func.count()).select_from(status_links)).scalar_one()
    row = {"name": "manager", "site": site, "secret_hash": f"hash {number}", "created_by": "user:anna"}
    connection.execute(sa.insert(status_links).values(created_at=now, **row))


def pictures_off(connection: Connection, site: str) -> None:
    row = {"site": site, "since": database_now(connection), "by": "user:anna"}
    connection.execute(sa.insert(screenshots_off).values(**row))


DARK = to_row(as_given(text="dark"))


def breaker(connection: Connection, site: str) -> None:
    connection.execute(sa.insert(recovery_breakers).values(site=site, open_since=database_now(connection), why=DARK))


def incident(connection: Connection, site: str) -> None:
    now = database_now(connection)
    row = {"kind": "site", "key": site, "began_at": now, "opened_at": now, "cause": DARK}
    connection.execute(sa.insert(incidents).values(**row))


Maker = Callable[[Connection, str], None]
NAMING: Final[dict[str, tuple[Maker, str]]] = {
    "person": (person, "SELECT unnest(sites) FROM users"),
    "token": (token, "SELECT unnest(sites) FROM api_tokens"),
    "channel": (a_channel, "SELECT unnest(sites) FROM notification_channels"),
    "quiet_time": (quiet_time, "SELECT site FROM quiet_times WHERE preset = 'leave_out'"),
    "opening hours": (opening_hours, "SELECT site FROM quiet_times WHERE preset = 'opening_hours'"),
    "schedule": (schedule, "SELECT filter ->> 'site' FROM command_schedules"),
    "status_link": (link, "SELECT site FROM status_links"),
    "pictures_off": (pictures_off, "SELECT site FROM screenshots_off"),
    "breaker": (breaker, "SELECT site FROM recovery_breakers WHERE site <> ''"),
    "incident": (incident, "SELECT key FROM incidents WHERE kind = 'site'"),
}
"""What names a site: how it is made, and the query for the names that such things bear."""
SAYS: Final = {name: name for name in NAMING} | {"opening hours": "quiet_time", "breaker": None, "incident": None}
"""What each of them is called when no display is left; a breaker and an incident end by themselves."""


def sites(connection: Connection, kind: str) -> set[str]:
    return set(connection.execute(sa.text(NAMING[kind][1])).scalars())


def move(connection: Connection, uuids: list[str], site: str | None) -> None:
    """As the api moves displays."""
    left = operations.take_from(connection, uuids)
    clients_store.update_many(connection, uuids, clients_store.ManyFactsChange(True, site, [], [], 32))
    note_emptied(connection, left)


def note_emptied(connection: Connection, left: list[str]) -> None:
    """As the api writes down which of these sites lost their last displays."""
    for one in operations.emptied(connection, left):
        line = AuditLine("user:anna", "site.emptied", f"site:{one.site}", "done", None, one.names)
        access.record_audit(connection, database_now(connection), line)


# --- a rename ---


@pytest.mark.parametrize("kind", NAMING)
def test_what_names_a_shop_bears_its_new_name(connection: Connection, now: datetime, kind: str) -> None:
    add_client(connection, now, site=OLD)
    NAMING[kind][0](connection, OLD)

    rename(connection, OLD, NEW)

    assert sites(connection, kind) - {OTHER} == {NEW}
    assert store.unmatched(connection, [OLD, NEW]) == []


def test_displays_move_with_their_shop_deleted_ones_too(connection: Connection, now: datetime) -> None:
    here, elsewhere = add_client(connection, now, site=OLD), add_client(connection, now, site=OTHER)
    gone = add_client(connection, now, site=OLD, deleted_at=now)

    assert rename(connection, OLD, NEW).displays == 1
    where = dict(connection.execute(sa.select(clients.c.uuid, clients.c.site)).all())
    assert {uuid: where[uuid] for uuid in (here, elsewhere, gone)} == {here: NEW, elsewhere: OTHER, gone: NEW}


def test_a_shop_of_which_only_the_name_is_left_can_be_renamed(connection: Connection, now: datetime) -> None:
    add_client(connection, now, site=NEW)
    person(connection, OLD)

    assert rename(connection, OLD, NEW, merges=True).people == 1
    assert sites(connection, "person") == {NEW, OTHER}


def test_a_name_that_exists_is_taken_only_by_a_merge(connection: Connection, now: datetime) -> None:
    add_client(connection, now, site=OLD)
    add_client(connection, now, site=NEW)

    with pytest.raises(SiteExists):
        rename(connection, OLD, NEW)
    assert rename(connection, OLD, NEW, merges=True).displays == 1


@pytest.mark.parametrize("name", ["Nowhere", NEW])
def test_a_name_that_nothing_bears_and_the_same_name_are_refused(
    connection: Connection, now: datetime, name: str
) -> None:
    add_client(connection, now, site=NEW)
    with pytest.raises(SiteNotFound):
        rename(connection, name, NEW, merges=True)


@pytest.mark.parametrize("kind", NAMING)
def test_two_shops_that_become_one_keep_what_each_had(connection: Connection, now: datetime, kind: str) -> None:
    """A breaker or an incident of both stays beside the other one until its displays are well."""
    for site in (OLD, NEW):
        add_client(connection, now, site=site)
        NAMING[kind][0](connection, site)

    rename(connection, OLD, NEW, merges=True)

    stays = {OLD} if SAYS[kind] is None else set()
    ended = {OLD} if kind == "opening hours" else set()
    assert sites(connection, kind) - {OTHER} == {NEW} | stays | ended
    assert store.unmatched(connection, [OLD]) == []


def test_of_two_opening_hours_those_of_the_other_shop_hold(connection: Connection, now: datetime) -> None:
    for site in (OLD, NEW):
        add_client(connection, now, site=site)
        opening_hours(connection, site)

    assert rename(connection, OLD, NEW, merges=True).opening_hours_ended == 1
    open_ones = connection.execute(sa.select(quiet_times.c.site).where(quiet_times.c.ended_at.is_(None))).scalars()
    assert list(open_ones) == [NEW]


def test_a_breaker_that_was_told_is_neither_over_nor_told_again(connection: Connection, now: datetime) -> None:
    add_client(connection, now, site=OLD)
    channel(connection, now - MINUTE)
    breaker(connection, OLD)
    settle(connection, now + 5 * MINUTE)
    before = told(connection)

    rename(connection, OLD, NEW)
    settle(connection, now + 6 * MINUTE, now + 120 * MINUTE)

    assert [phase for phase, _ in before] == ["opened"]
    assert told(connection) == before
    assert connection.execute(sa.select(notification_deliveries.c.root)).scalars().all() == [f"breaker:{NEW}"]


def test_a_breaker_stays_told_where_the_new_name_had_one_once(connection: Connection, now: datetime) -> None:
    add_client(connection, now, site=OLD)
    channel(connection, now - MINUTE)
    connection.execute(sa.insert(recovery_breakers).values(site=NEW))
    breaker(connection, OLD)
    settle(connection, now + 5 * MINUTE)
    before = told(connection)

    rename(connection, OLD, NEW)
    settle(connection, now + 6 * MINUTE, now + 120 * MINUTE)

    assert [phase for phase, _ in before] == ["opened"]
    assert told(connection) == before


# --- displays that go one by one ---


@pytest.mark.parametrize(("kind", "what"), [(kind, what) for kind, what in SAYS.items() if what is not None])
def test_a_shop_whose_displays_went_one_by_one_is_told(
    connection: Connection, now: datetime, kind: str, what: str
) -> None:
    uuids = [add_client(connection, now, site=OLD) for _ in range(2)]
    hears = channel(connection, now - MINUTE)
    of_others = channel(connection, now - MINUTE, "Of others", sites=[OTHER])
    NAMING[kind][0](connection, OLD)

    move(connection, uuids[:1], OTHER)
    settle(connection, now + 5 * MINUTE)
    assert store.unmatched(connection, [OLD]) == []
    assert told(connection) == []
    move(connection, uuids[1:], OTHER)
    settle(connection, now + 10 * MINUTE, now + 20 * MINUTE)

    assert [(one.what, one.count) for one in store.unmatched(connection, [OLD])] == [(what, 1)]
    assert told(connection, hears) == [("opened", f"1 thing still names {OLD}, where no display is left")]
    assert told(connection, of_others) == []
    move(connection, uuids[1:], OLD)
    settle(connection, now + 30 * MINUTE)
    assert [phase for phase, _ in told(connection, hears)] == ["opened", "recovered"]


def test_the_message_says_who_names_the_shop(connection: Connection, now: datetime) -> None:
    uuid = add_client(connection, now, site=OLD)
    channel(connection, now - MINUTE)
    person(connection, OLD)
    person(connection, OLD)
    a_channel(connection, OLD)

    move(connection, [uuid], None)
    settle(connection, now + 5 * MINUTE)

    [message] = messages(connection)
    assert message["title"] == f"3 things still name {OLD}, where no display is left"
    assert "2 people have rights there, 1 channel hears of it." in message["text"]
    assert message["facts"]["site"] == OLD


def test_a_shop_that_never_had_displays_is_no_news(connection: Connection, now: datetime) -> None:
    channel(connection, now - MINUTE)
    person(connection, OLD)

    decide(connection, now + 5 * MINUTE)

    assert store.unmatched(connection, [OLD]) != []
    assert told(connection) == []


@pytest.mark.parametrize("kind", ["quiet_time", "schedule", "status_link", "channel", "token"])
def test_what_has_ended_names_nothing_any_more(connection: Connection, now: datetime, kind: str) -> None:
    NAMING[kind][0](connection, OLD)
    ends = {
        "quiet_time": sa.update(quiet_times).values(ended_at=now, ended_by="user:anna"),
        "schedule": sa.update(command_schedules).values(cancelled_at=now, cancelled_by="user:anna"),
        "status_link": sa.update(status_links).values(ended_at=now),
        "channel": sa.update(notification_channels).values(enabled=False),
        "token": sa.update(api_tokens).values(revoked_at=now),
    }
    connection.execute(ends[kind])

    assert store.unmatched(connection, [OLD]) == []


# --- many ---


def test_two_hundred_random_renames_lose_nothing(connection: Connection, now: datetime) -> None:
    """Whoever had a right or a duty at the shop of a display has it there after every rename, merge and way back."""
    chance = random.Random(1_000)
    homes = {f"Shop {number}": f"Shop {number}" for number in range(20)}
    displays = {home: add_client(connection, now, site=home) for home in homes}
    for home in homes:
        for kind, (make, _) in NAMING.items():
            if kind not in {"breaker", "incident"}:
                make(connection, home)
    counts = {kind: _count(connection, kind) for kind in NAMING}
    merged = 0
    for number in range(200):
        before = chance.choice(sorted(set(homes.values())))
        merges = len(set(homes.values())) > 10 and chance.random() < 0.05
        after = chance.choice(sorted(set(homes.values()) - {before})) if merges else f"Name {number % 40}"
        if not merges and after in homes.values():
            continue
        merged += merges
        rename(connection, before, after, merges=merges)
        homes = {home: after if name == before else name for home, name in homes.items()}

    where = dict(connection.execute(sa.select(clients.c.uuid, clients.c.site)).all())
    assert {home: where[uuid] for home, uuid in displays.items()} == homes
    assert 0 < merged <= 10
    for kind in NAMING:
        if kind in {"breaker", "incident", "opening hours"}:
            continue
        assert sites(connection, kind) - {OTHER} == set(homes.values()), kind
        assert _count(connection, kind) == counts[kind] or kind == "pictures_off"
    assert store.unmatched(connection) == [one for one in store.unmatched(connection) if one.site == OTHER]
    current = "SELECT site FROM quiet_times WHERE preset = 'opening_hours' AND ended_at IS NULL"
    assert sorted(connection.execute(sa.text(current)).scalars()) == sorted(set(homes.values()))


def _count(connection: Connection, kind: str) -> int:
    return len(list(connection.execute(sa.text(NAMING[kind][1])).scalars()))
