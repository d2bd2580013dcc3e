"""Renames of a site beside all that reads or writes its name: nothing waits in a ring, and nothing is left behind."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from extensions.batches import operations as batches
from extensions.batches import schedules_operations as schedules
from extensions.batches import schedules_rules
from extensions.batches.rules import BatchRequest
from extensions.batches.schedules_rules import KeptSchedule, WantedSchedule, When
from extensions.batches.store import BatchRow
from extensions.notifications.channels import operations as channels
from extensions.screenshots import operations as screenshots
from extensions.status_pages import operations as status_pages
from shared.access import sites_store
from shared.clients import operations as clients_operations
from shared.postgres.door import database_now, transaction
from shared.quiet import operations as quiet_times
from shared.quiet.rules import WantedQuietTime
from shared.sites import operations, store
from shared.tables import (
    clients,
    command_batch_members,
    command_batches,
    command_schedules,
    users,
)
from shared.vocabulary import (
    ChannelKind,
    MemberOutcome,
    NotificationEvent,
    PrincipalKind,
    Quiet,
    QuietPreset,
    QuietScope,
    Role,
)
from tests.stack import eventually
from tests.stores.commands_world import RESTART, TIMINGS, add_client
from tests.stores.test_sites import NEW, OLD, OTHER, move, note_emptied, person, rename, sites

HOUR: Final = timedelta(hours=1)
Work = Callable[[Connection], object]


@pytest.fixture
def at_old(engine: Engine) -> Iterator[list[str]]:
    """Two displays at OLD, where the operator person0 has rights, all of it committed."""
    with transaction(engine) as connection:
        uuids = [add_client(connection, database_now(connection), site=OLD) for _ in range(2)]
        person(connection, OLD)
    yield uuids
    with transaction(engine) as connection:
        connection.execute(sa.text("TRUNCATE users, command_batches, command_schedules, quiet_times, clients CASCADE"))


def while_another(engine: Engine, first: Work, second: Work, and_then: Work = lambda _: None) -> None:
    """Do `first`; begin `second` in another transaction; when that one waits or is done, do `and_then`, and commit.

    Of two that wait for each other Postgres ends one, which fails the test.
    """

    def in_its_own() -> None:
        with transaction(engine) as connection:
            second(connection)

    waits = sa.text(
        "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
    )
    with ThreadPoolExecutor(1) as pool:
        with transaction(engine) as connection:
            first(connection)
            other = pool.submit(in_its_own)
            eventually(lambda: other.done() or connection.execute(waits).scalar_one(), "the other one waits")
            and_then(connection)
        other.result()


def take_turns(engine: Engine, order: str, one: Work, other: Work) -> None:
    """Begin with `one` or with the `other`, and with the second before the first is done."""
    while_another(engine, *((one, other) if order == "it first" else (other, one)))


IN_BOTH_ORDERS = pytest.mark.parametrize("order", ["it first", "the rename first"])
to_new: Work = partial(rename, before=OLD, after=NEW)


def names(engine: Engine) -> set[str | None]:
    """The sites of all displays, and of the person who has rights there."""
    with transaction(engine) as connection:
        homes = connection.execute(sa.select(clients.c.site).where(clients.c.deleted_at.is_(None))).scalars()
        return {*homes, *sites(connection, "person")} - {OTHER}


# --- batches ---


def make_batch(connection: Connection) -> BatchRow:
    """A batch of person0 for all displays of OLD."""
    wanted = BatchRequest(RESTART, "user:person0", "new playlist", filter={"site": OLD})
    return batches.create(connection, database_now(connection), wanted, batches.chosen(connection, wanted))


def outcomes(engine: Engine) -> dict[str, MemberOutcome | None]:
    with transaction(engine) as connection:
        members = command_batch_members.c
        return dict(connection.execute(sa.select(members.client_uuid, members.outcome)).all())


def advance(connection: Connection) -> None:
    [batch_id] = connection.execute(sa.select(command_batches.c.id)).scalars()
    batches.advance(connection, database_now(connection), batch_id, TIMINGS)


def forbid_pictures(connection: Connection) -> None:
    screenshots.allow(connection, database_now(connection), OLD, "anna", allowed=False)


def make_link(connection: Connection) -> None:
    status_pages.make(connection, database_now(connection), "a tenant", OLD, "anna")


def make_channel(connection: Connection) -> None:
    wanted = channels.NewChannel(
        *("Chat", ChannelKind.WEBHOOK, "https://chat.example.com/", None, list(NotificationEvent), timedelta(0)),
        *([OLD], None, True, True),
    )
    channels.add(connection, database_now(connection), wanted, "anna")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (forbid_pictures, "SELECT site FROM screenshots_off"),
        (make_link, "SELECT site FROM status_links"),
        (make_channel, "SELECT sites[1] FROM notification_channels"),
    ],
)
def test_what_is_made_for_a_shop_before_its_rename_ends_bears_the_new_name(
    engine: Engine, at_old: list[str], make: Work, named: str
) -> None:
    while_another(engine, make, to_new)

    with transaction(engine) as connection:
        assert connection.execute(sa.text(named)).scalars().all() == [NEW]
        connection.execute(sa.text("TRUNCATE screenshots_off, status_links, notification_channels CASCADE"))


@IN_BOTH_ORDERS
def test_a_batch_that_is_made_beside_a_rename_reaches_every_display(
    engine: Engine, at_old: list[str], order: str
) -> None:
    take_turns(engine, order, make_batch, to_new)
    with transaction(engine) as connection:
        advance(connection)

    assert names(engine) == {NEW}
    assert outcomes(engine) == dict.fromkeys(at_old, MemberOutcome.ACCEPTED)


@IN_BOTH_ORDERS
def test_a_batch_that_is_sent_beside_a_rename_reaches_every_display(
    engine: Engine, at_old: list[str], order: str
) -> None:
    with transaction(engine) as connection:
        make_batch(connection)

    take_turns(engine, order, advance, to_new)

    assert names(engine) == {NEW}
    assert outcomes(engine) == dict.fromkeys(at_old, MemberOutcome.ACCEPTED)


# --- schedules ---


def plan(connection: Connection, **about: Any) -> KeptSchedule:
    """A schedule of person0 for the displays of OLD, unless `about` says other ones."""
    now = database_now(connection)
    wanted = BatchRequest(RESTART, "user:person0", "new playlist", **(about or {"filter": {"site": OLD}}))
    return schedules.plan(connection, now, WantedSchedule(request=wanted, when=When(time_zone="UTC", at=now + HOUR)))


def take_turn(connection: Connection) -> None:
    """As the tick does, an hour later."""
    [schedule_id] = connection.execute(sa.select(command_schedules.c.id)).scalars()
    now = database_now(connection) + HOUR
    assert schedules.take_turn(connection, now, schedule_id, schedules_rules.GRACE)


def test_a_schedule_that_is_made_before_a_rename_ends_bears_the_new_name(engine: Engine, at_old: list[str]) -> None:
    while_another(engine, plan, to_new)

    with transaction(engine) as connection:
        assert sites(connection, "schedule") == {NEW}


@IN_BOTH_ORDERS
def test_a_schedule_that_is_changed_beside_a_rename_keeps_both_changes(
    engine: Engine, at_old: list[str], order: str
) -> None:
    with transaction(engine) as connection:
        schedule_id = plan(connection).id

    def change(connection: Connection) -> None:
        schedules.change(connection, database_now(connection), schedule_id, {"reason": "another"}, "user:person0")

    take_turns(engine, order, change, to_new)

    with transaction(engine) as connection:
        assert sites(connection, "schedule") == {NEW}
        assert schedules.find(connection, schedule_id).reason == "another"


@IN_BOTH_ORDERS
@pytest.mark.parametrize("by", ["filter", "clients"])
def test_a_schedule_whose_time_comes_beside_a_rename_reaches_every_display(
    engine: Engine, at_old: list[str], by: str, order: str
) -> None:
    with transaction(engine) as connection:
        plan(connection, **({"clients": tuple(at_old)} if by == "clients" else {}))

    take_turns(engine, order, take_turn, to_new)

    assert outcomes(engine) == dict.fromkeys(at_old, MemberOutcome.WAITING)
    with transaction(engine) as connection:
        advance(connection)
    assert outcomes(engine) == dict.fromkeys(at_old, MemberOutcome.ACCEPTED)


# --- other renames ---


def test_a_rename_that_begins_during_another_one_takes_its_rights_along(engine: Engine, at_old: list[str]) -> None:
    with transaction(engine) as connection:
        add_client(connection, database_now(connection), site=NEW)

    while_another(
        engine, partial(rename, before=OLD, after=NEW, merges=True), partial(rename, before=NEW, after="Köln Nord")
    )

    assert names(engine) == {"Köln Nord"}


def test_of_a_rename_and_the_way_back_at_once_the_later_one_holds(engine: Engine, at_old: list[str]) -> None:
    with transaction(engine) as connection:
        add_client(connection, database_now(connection), site=NEW)
        person(connection, NEW)

    while_another(
        engine, partial(rename, before=OLD, after=NEW, merges=True), partial(rename, before=NEW, after=OLD, merges=True)
    )

    assert names(engine) == {OLD}


# --- displays that leave ---


def delete(connection: Connection, uuids: list[str]) -> None:
    """As the api deletes displays, with what it writes down about a site that lost its last one."""
    left = operations.take_from(connection, uuids)
    for uuid in uuids:
        clients_operations.delete(connection, database_now(connection), uuid)
    note_emptied(connection, left)


def test_of_two_who_take_the_last_displays_at_once_one_says_so(engine: Engine, at_old: list[str]) -> None:
    here, there = at_old
    while_another(engine, lambda one: move(one, [here], OTHER), lambda two: move(two, [there], OTHER))

    with transaction(engine) as connection:
        assert [one.site for one in store.emptied(connection, [OLD])] == [OLD]


@pytest.mark.parametrize("leave", [delete, partial(move, site=OTHER)], ids=["deleted", "moved"])
def test_a_shop_that_loses_its_displays_during_its_rename_is_told_by_its_new_name(
    engine: Engine, at_old: list[str], leave: Callable[[Connection, list[str]], None]
) -> None:
    while_another(engine, to_new, lambda connection: leave(connection, at_old))

    with transaction(engine) as connection:
        assert [one.site for one in store.emptied(connection, [NEW])] == [NEW]


@pytest.mark.parametrize("leave", [delete, partial(move, site=OTHER)], ids=["deleted", "moved"])
def test_a_shop_that_loses_its_displays_before_its_rename_ends_is_told(
    engine: Engine, at_old: list[str], leave: Callable[[Connection, list[str]], None]
) -> None:
    while_another(engine, lambda connection: leave(connection, at_old), to_new)

    with transaction(engine) as connection:
        assert [one.site for one in store.emptied(connection, [OLD])] == [OLD]
        assert sites(connection, "person") - {OTHER} == {NEW}


# --- the order of locks ---


def narrow(connection: Connection) -> None:
    """As the api begins a change of person0, who has rights at OLD: it holds their row until it ends."""
    [anybody] = connection.execute(sa.select(users.c.id)).scalars()
    assert sites_store.narrow(connection, PrincipalKind.USER, str(anybody), Role.OPERATOR, to_write=True)


def make_quiet(connection: Connection) -> None:
    row = WantedQuietTime(
        QuietPreset.LEAVE_OUT, (Quiet.RECOVERY,), QuietScope.SITE, OLD, None, (), None, None, (), None, "works"
    )
    quiet_times.make(connection, database_now(connection), row, "user:person0")


CHANGES: Final[dict[str, Callable[[Connection, list[str]], object]]] = {
    "a move": lambda connection, uuids: move(connection, uuids[:1], OTHER),
    "a quiet time": lambda connection, _: make_quiet(connection),
    "a schedule": lambda connection, _: plan(connection),
    "a batch": lambda connection, _: make_batch(connection),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_rename_waits_for_the_change_of_somebody_of_the_site_and_not_they_for_it(
    engine: Engine, at_old: list[str], change: str
) -> None:
    while_another(engine, narrow, to_new, lambda connection: CHANGES[change](connection, at_old))

    assert names(engine) == {NEW}
    with transaction(engine) as connection:
        assert sites(connection, "schedule") | sites(connection, "quiet_time") <= {NEW}
