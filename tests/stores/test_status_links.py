"""Links to public status pages on real Postgres: what is stored, who reads what, and several at once."""

import secrets
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import ProgrammingError

from extensions.status_pages import operations, store
from extensions.status_pages.operations import SitePage
from extensions.status_pages.rules import MOST_DISPLAYS
from shared.access.rules import FAILURES_COUNT_FOR, digest
from shared.errors import StatusLinkNotFound, TooManyAttempts
from shared.postgres.door import database_now, transaction
from shared.tables import bridge_status, client_state_changes, clients, login_failures, scheduler_status, status_links
from shared.vocabulary import PageState
from tests.stores import incidents_world
from tests.stores.commands_world import add_client
from tests.stores.parallel import at_once

WINDOW = FAILURES_COUNT_FOR
SECRET = 43
"""Characters of 32 random bytes."""


@pytest.fixture
def shop() -> str:
    return f"Shop {secrets.token_hex(4)}"


@pytest.fixture
def heard(connection: Connection, now: datetime) -> None:
    """The bridge listens and the scheduler is on time."""
    incidents_world.listen(connection, now)
    connection.execute(sa.update(scheduler_status).values(last_tick_at=now))


def make(connection: Connection, site: str) -> tuple[int, str]:
    row, secret = operations.make(connection, database_now(connection), "the manager", site, "user:anna")
    return row.id, secret


def stored(connection: Connection, link_id: int) -> Any:
    return connection.execute(sa.select(status_links).where(status_links.c.id == link_id)).one()


def read(connection: Connection, secret: str) -> SitePage:
    link = operations.use(connection, secret)
    assert link is not None
    return operations.read(connection, link.site, link.now)


# --- links ---


def test_a_secret_is_long_random_and_kept_as_a_hash_only(connection: Connection, shop: str) -> None:
    made = [make(connection, shop) for _ in range(20)]

    assert len({secret for _, secret in made}) == len(made)
    for link_id, secret in made:
        row = stored(connection, link_id)
        assert len(secret) == SECRET
        assert row.secret_hash == digest(secret)
        assert secret not in str(tuple(row))


def test_the_hash_is_not_a_secret(connection: Connection, shop: str) -> None:
    _, secret = make(connection, shop)

    assert operations.use(connection, digest(secret)) is None


def test_an_ended_link_keeps_its_time_and_opens_nothing(connection: Connection, now: datetime, shop: str) -> None:
    (link_id, secret), (other_id, _) = make(connection, shop), make(connection, shop)

    operations.end(connection, now, link_id)
    operations.end(connection, now + timedelta(hours=1), link_id)

    assert (stored(connection, link_id).ended_at, stored(connection, other_id).ended_at) == (now, None)
    assert operations.use(connection, secret) is None


def test_a_link_that_does_not_exist_cannot_be_ended(connection: Connection, now: datetime) -> None:
    with pytest.raises(StatusLinkNotFound):
        operations.end(connection, now, 999_999_999)


def test_the_list_goes_on_where_it_stopped(connection: Connection, shop: str) -> None:
    made = [make(connection, shop)[0] for _ in range(5)]

    first = store.page(connection, 3, None)
    rest = store.page(connection, 100, (first[-1].created_at, first[-1].id))

    assert [one.id for one in (*first, *rest) if one.site == shop] == made[::-1]


def test_a_link_that_is_used_while_it_ends_is_ended_afterwards(engine: Engine, shop: str) -> None:
    with transaction(engine) as connection:
        link_id, secret = make(connection, shop)

    def use() -> bool:
        with transaction(engine) as connection:
            return operations.use(connection, secret) is not None

    def end() -> bool:
        with transaction(engine) as connection:
            operations.end(connection, database_now(connection), link_id)
        return use()

    work = [end, *[use] * 7]

    def next_of_them() -> bool:
        return work.pop()()

    found = at_once(8, next_of_them)

    assert len(found) == 8
    assert not use()
    with transaction(engine) as connection:
        assert stored(connection, link_id).ended_at is not None


def test_of_many_readers_at_once_none_waits_and_the_use_is_noted_once(engine: Engine, shop: str) -> None:
    with transaction(engine) as connection:
        link_id, secret = make(connection, shop)
    with transaction(engine) as holder:
        first = operations.use(holder, secret)
        assert first is not None
        with transaction(engine) as connection:  # while the first one has not committed
            assert operations.use(connection, secret) is not None
    with transaction(engine) as connection:
        assert stored(connection, link_id).last_used_at == first.now

    found = at_once(8, lambda: _used(engine, secret))

    assert found == [True] * 8
    with transaction(engine) as connection:
        assert stored(connection, link_id).last_used_at == first.now  # noted a moment ago


def _used(engine: Engine, secret: str) -> bool:
    with transaction(engine) as connection:
        return operations.use(connection, secret) is not None


# --- guesses ---


def test_of_many_guesses_at_once_no_more_than_allowed_are_counted(engine: Engine) -> None:
    def guess() -> None:
        with transaction(engine) as connection:
            operations.note_invalid(connection, database_now(connection), "192.0.2.77")

    found = at_once(12, guess)

    assert sum(isinstance(one, TooManyAttempts) for one in found) == 7
    with transaction(engine) as connection:
        mine = login_failures.c.bucket == "status:192.0.2.77"
        assert len(connection.execute(sa.select(login_failures).where(mine)).all()) == 5


def test_guesses_are_forgiven_after_the_window(connection: Connection, now: datetime) -> None:
    for _ in range(5):
        operations.note_invalid(connection, now, "192.0.2.78")
    with pytest.raises(TooManyAttempts):
        operations.note_invalid(connection, now + WINDOW / 2, "192.0.2.78")

    operations.note_invalid(connection, now + WINDOW + timedelta(seconds=1), "192.0.2.78")


# --- pages ---


@pytest.mark.usefixtures("heard")
def test_a_page_shows_the_displays_of_its_site_by_name(connection: Connection, now: datetime, shop: str) -> None:
    for name, status in (("window", "running"), ("Till", "crashed"), ("door", "late")):
        add_client(connection, now, site=shop, name=name, status=status, created_at=now - timedelta(days=9))
    add_client(connection, now, site=f"{shop} II", name="Elsewhere")
    add_client(connection, now, site=None, name="Nowhere")
    add_client(connection, now, site=shop, name="Gone", deleted_at=now)
    _, secret = make(connection, shop)

    page = read(connection, secret)

    assert [(one.name, one.state) for one in page.displays] == [
        ("door", PageState.RUNNING),
        ("Till", PageState.NOT_RUNNING),
        ("window", PageState.RUNNING),
    ]
    assert (page.site, page.more, page.incidents) == (shop, False, [])


@pytest.mark.usefixtures("heard")
def test_the_transaction_of_a_reader_sees_nothing_but_the_site(
    connection: Connection, now: datetime, shop: str
) -> None:
    mine = add_client(connection, now, site=shop)
    add_client(connection, now, site="Elsewhere")
    _, secret = make(connection, shop)
    make(connection, "Elsewhere")

    operations.use(connection, secret)

    assert connection.execute(sa.select(clients.c.uuid)).scalars().all() == [mine]
    assert set(connection.execute(sa.select(status_links.c.site)).scalars()) == {shop}
    with pytest.raises(ProgrammingError, match="users"):
        connection.execute(sa.text("SELECT * FROM users"))


@pytest.mark.usefixtures("heard")
def test_a_site_that_was_renamed_leaves_its_link_an_empty_page(
    connection: Connection, now: datetime, shop: str
) -> None:
    uuid = add_client(connection, now, site=shop, name="Window")
    _, secret = make(connection, shop)
    connection.execute(sa.update(clients).where(clients.c.uuid == uuid).values(site=f"{shop} II"))

    page = read(connection, secret)

    assert (page.site, page.displays, page.more) == (shop, [], False)


@pytest.mark.usefixtures("heard")
def test_a_page_of_a_huge_site_is_cut_and_says_so(connection: Connection, now: datetime, shop: str) -> None:
    for number in range(MOST_DISPLAYS):
        add_client(connection, now, site=shop, name=f"Display {number}")
    _, secret = make(connection, shop)
    before = read(connection, secret)
    connection.execute(sa.text("SET LOCAL search_path TO DEFAULT"))
    add_client(connection, now, site=shop, name="One more")

    after = read(connection, secret)

    assert (len(before.displays), before.more) == (MOST_DISPLAYS, False)
    assert (len(after.displays), after.more) == (MOST_DISPLAYS, True)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(
    ("table", "column"), [(bridge_status, "canary_at"), (scheduler_status, "last_tick_at")], ids=["bridge", "scheduler"]
)
def test_while_the_bridge_or_the_scheduler_gives_no_sign_every_display_is_unknown(
    connection: Connection, now: datetime, shop: str, table: sa.Table, column: str
) -> None:
    last = now - timedelta(hours=2, minutes=30)
    for status in ("running", "crashed", "late"):
        uuid = add_client(connection, now, site=shop, status=status, created_at=now - timedelta(days=9))
        change: dict[str, object] = {"client_uuid": uuid, "from_status": "unknown", "to_status": status, "cause": {}}
        connection.execute(sa.insert(client_state_changes).values(**change, at=now - timedelta(days=8)))
    _, secret = make(connection, shop)

    def shown(heard: datetime | None) -> set[tuple[Any, ...]]:
        connection.execute(sa.text("SET LOCAL search_path TO DEFAULT"))
        connection.execute(sa.update(table).values({column: heard}))
        found = read(connection, secret).displays
        return {(one.state, one.since, one.hours[-4:], one.availability) for one in found}

    assert {(state, since) for state, since, *_ in shown(last)} == {(PageState.UNKNOWN, last)}
    assert {hours for *_, hours, _ in shown(last)} == {"ruuu", "nnuu"}
    assert {(state, hours, share) for state, _, hours, share in shown(None)} == {(PageState.UNKNOWN, "uuuu", None)}
