"""A large fleet without the list of its displays: counts by place, deltas, pages, and rights by site."""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.access import operations as access
from shared.access import sites_store
from shared.clients.store import ClientFilter
from shared.overview import operations
from shared.overview.large_store import DisplayFilter
from shared.overview.operations import CHANGES_SHOWN, FIRST_SHOWN, Overview
from shared.overview.rules import OverviewCursor
from shared.postgres.door import database_now, transaction
from shared.tables import client_heartbeats, clients
from shared.vocabulary import PrincipalKind, Role
from tests.stores.recovery_world import ON, hear
from tests.unpacked import unpacked, uuids_of

FLEET = 1_200
MOST = 1_000
SITES = 12
UNWELL = {"crashed", "stale", "bad"}
NINTH = f"00000000-0000-4000-8000-{9:012d}"
FILL = (
    "TRUNCATE clients, incidents CASCADE",
    f"""
    INSERT INTO clients (uuid, name, site, registered_by, status, process_status, status_since, service_failed_at,
        service_failed_unit, screen_health, screen_health_since, screen_failed_at, tags)
    SELECT '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'Display ' || mod(n, 700),
        CASE mod(n, {SITES}) WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'Site, ' || mod(n, {SITES}) END, 'enrolment',
        coalesce((ARRAY['crashed', 'stale', 'late', 'unknown', 'starting', 'stopped'])[mod(n, 50)], 'running'),
        'running', now() - n * interval '1 second', CASE WHEN mod(n, 40) = 7 THEN now() END,
        CASE WHEN mod(n, 40) = 7 THEN 'x' END,
        CAST(CASE WHEN mod(n, 60) = 8 THEN 'black' ELSE 'ok' END AS screen_health_status),
        CASE WHEN mod(n, 60) = 8 THEN now() END,
        CASE WHEN mod(n, 60) = 8 THEN now() END, CASE WHEN mod(n, 9) = 0 THEN ARRAY['lobby'] ELSE ARRAY[]::text[] END
    FROM generate_series(1, {FLEET}) AS n
    """,
    """
    INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at, sign_at)
    SELECT uuid, now() - interval '10 minutes', CASE WHEN right(uuid, 1) = '4' THEN now() END FROM clients
    """,
    """
    INSERT INTO client_limits (client_uuid, kind, over_since, passed_at, value, limit_at)
    SELECT uuid, kind, now(), now(), 99, 90 FROM clients CROSS JOIN (VALUES ('disk'), ('memory')) AS k (kind)
    WHERE right(uuid, 2) = '33'
    """,
)


@pytest.fixture
def filled(engine: Engine) -> Engine:
    with transaction(engine) as connection:
        for statement in FILL:
            connection.execute(sa.text(statement))
        hear(connection, database_now(connection))
    return engine


@pytest.fixture
def inside(filled: Engine) -> Iterator[Connection]:
    """A transaction that is rolled back."""
    with filled.connect() as connection, connection.begin() as begun:
        yield connection
        begun.rollback()


def look(
    connection: Connection, since: OverviewCursor | None = None, *, most: int | None = MOST, **more: Any
) -> Overview:
    now = database_now(connection)
    return operations.overview(connection, now, ON, since, with_heartbeats=True, packed=True, most=most, **more)


def rows_of(seen: Overview) -> list[dict[str, Any]]:
    return unpacked(msgspec.json.decode(seen.rows), seen.now.isoformat())


def state_of(row: dict[str, Any]) -> str:
    """The state as the page shows it as a dot."""
    if row["status"] in ("crashed", "stale"):
        return str(row["status"])
    faults = row["service_failed_at"], row["screen_failed_since"], row["limits"], (row["recovery"] or {}).get("mute")
    return "bad" if any(faults) else str(row["status"])


def counted(rows: list[dict[str, Any]]) -> dict[str | None, Counter[str]]:
    found: dict[str | None, Counter[str]] = {}
    for row in rows:
        found.setdefault(row["site"] or None, Counter())[state_of(row)] += 1
    return found


def places_of(seen: Overview) -> dict[str | None, Counter[str]]:
    assert seen.places is not None
    return {place.site: Counter(place.states) for place in seen.places}


def test_the_places_count_what_the_whole_list_has(inside: Connection) -> None:
    everyone, large = look(inside, most=FLEET), look(inside)

    listed = rows_of(everyone)
    assert everyone.places is None
    assert len(listed) == FLEET
    assert places_of(large) == counted(listed)
    assert {"bad", "crashed", "stale", "late", "running"} <= set().union(*counted(listed).values())
    assert any((row["recovery"] or {}).get("mute") for row in listed)
    assert large.counts == everyone.counts
    assert large.heartbeats is None
    assert large.places is not None
    assert sum(place.total for place in large.places) == large.counts["total"]
    assert sum(place.unwell for place in large.places) == sum(state_of(row) in UNWELL for row in listed)


def test_a_whole_answer_names_the_worst_and_longest_lasting_first(inside: Connection) -> None:
    everyone = [row for row in rows_of(look(inside, most=None)) if state_of(row) in UNWELL]
    weight = {"crashed": 0, "stale": 1}

    named = {row["uuid"] for row in rows_of(look(inside))}

    order = sorted(everyone, key=lambda row: (weight.get(row["status"], 2), row["status_since"], row["uuid"]))
    assert len(order) > FIRST_SHOWN
    assert named == {row["uuid"] for row in order[:FIRST_SHOWN]}


def test_what_an_incident_tells_of_is_named_last(inside: Connection) -> None:
    seen = look(inside)
    unwell = sum(place.unwell for place in seen.places or ())
    told = [row["uuid"] for row in rows_of(seen)][: unwell - FIRST_SHOWN]  # as many others are enough for an answer
    assert told
    inside.execute(
        sa.text(
            """
            WITH made AS (INSERT INTO incidents (kind, key, cause, began_at, opened_at)
                VALUES ('site', 'Site, 2', '{"code": "other_sites_too", "facts": {}}', now(), now()) RETURNING id)
            INSERT INTO incident_members (incident_id, client_uuid, joined_at, failed_at, symptom)
            SELECT made.id, uuid, now(), now(), 'silent' FROM made, unnest(CAST(:uuids AS text[])) AS uuid
            """
        ),
        {"uuids": told},
    )

    assert set(told).isdisjoint(row["uuid"] for row in rows_of(look(inside)))


CRASH = "UPDATE clients SET status = 'crashed', process_status = 'crashed' WHERE uuid = :one"
MEND = "UPDATE clients SET status = 'running', process_status = 'running', service_failed_at = NULL WHERE uuid = :one"
MOVE = "UPDATE clients SET site = (SELECT site FROM clients WHERE uuid = :other) WHERE uuid = :one"
DELETE = "UPDATE clients SET deleted_at = now() WHERE uuid = :one"
ADD = """
    INSERT INTO clients (uuid, name, site, registered_by) SELECT gen_random_uuid()::text, 'New', site, 'enrolment'
    FROM clients WHERE uuid = :one
"""
PASS = """
    INSERT INTO client_limits (client_uuid, kind, over_since, passed_at, value, limit_at)
    SELECT uuid, 'heat', now(), now(), 99, 90 FROM clients WHERE uuid = :one ON CONFLICT DO NOTHING
"""
CHANGES = (CRASH, MEND, MOVE, MOVE, DELETE, ADD, PASS)


def test_deltas_keep_the_places_right_or_show_that_they_are_not(filled: Engine) -> None:
    drawn = random.Random(1)
    with filled.begin() as connection:
        connection.execute(sa.update(client_heartbeats).values(sign_at=None))  # mute displays are so only for a while
    with filled.connect() as connection:
        first = look(connection)
    known, cursor, asked_anew, continued = places_of(first), first.here, 0, 0
    for _ in range(25):
        with filled.begin() as connection:
            uuids = sorted(connection.execute(sa.select(clients.c.uuid)).scalars())
            for statement in drawn.choices(CHANGES, k=drawn.randint(0, 3)):
                one, other = drawn.sample(uuids, 2)
                connection.execute(sa.text(statement), {"one": one, **({"other": other} if statement == MOVE else {})})
        with filled.connect() as connection:
            seen, truth = look(connection, cursor), counted(rows_of(look(connection, most=None)))
        assert seen.full is False
        known = {site: counts for site, counts in {**known, **places_of(seen)}.items() if counts.total()}
        cursor = seen.here
        if sum(counts.total() for counts in known.values()) != seen.counts["total"]:
            with filled.connect() as connection:
                anew = look(connection)
            known, cursor, asked_anew = places_of(anew), anew.here, asked_anew + 1
        else:
            continued += 1
        assert known == truth

    assert asked_anew
    assert continued


def test_a_delta_counts_the_places_of_what_changed_and_a_quiet_one_none(filled: Engine) -> None:
    one = f"00000000-0000-4000-8000-{7:012d}"
    with filled.connect() as connection:
        before = look(connection)
    with filled.connect() as connection:
        quiet = look(connection, before.here)
    with filled.begin() as connection:
        connection.execute(sa.text(CRASH), {"one": one})
    with filled.connect() as connection:
        seen = look(connection, quiet.here)

    assert (quiet.full, quiet.places, rows_of(quiet)) == (False, [], [])
    assert [row["uuid"] for row in rows_of(seen)] == [one]
    assert set(places_of(seen)) == {"Site, 7"}


def test_more_changes_than_a_page_needs_are_answered_as_a_whole(filled: Engine) -> None:
    with filled.connect() as connection:
        before = look(connection)
    with filled.begin() as connection:
        connection.execute(sa.text("UPDATE clients SET status = 'late' WHERE right(uuid, 5) > '00100'"))
    with filled.connect() as connection:
        seen = look(connection, before.here)

    assert FLEET - 100 > CHANGES_SHOWN
    assert seen.full
    assert len(rows_of(seen)) <= FIRST_SHOWN
    assert places_of(seen).keys() == places_of(before).keys()


@pytest.mark.parametrize(("before", "after"), [(FLEET, FLEET - 1), (FLEET - 1, FLEET)], ids=["grown", "shrunk"])
def test_a_fleet_that_becomes_large_or_small_is_answered_as_a_whole(filled: Engine, before: int, after: int) -> None:
    with filled.connect() as connection:
        first = look(connection, most=before)
    with filled.connect() as connection:
        seen = look(connection, first.here, most=after)

    assert (seen.full, seen.places is None) == (True, first.places is not None)


def pages(connection: Connection, wanted: DisplayFilter, limit: int) -> Iterator[list[str]]:
    after: tuple[str, str] | None = None
    while True:
        page = operations.displays(connection, database_now(connection), ON, wanted, limit, after)
        yield uuids_of(msgspec.json.decode(page.rows)["uuid"])
        if page.last is None:
            return
        after = page.last


def test_pages_are_complete_and_have_nothing_twice_while_rows_change(inside: Connection) -> None:
    everyone = set(inside.execute(sa.select(clients.c.uuid)).scalars())
    read: list[str] = []
    for number, page in enumerate(pages(inside, DisplayFilter(ClientFilter()), 100)):
        read += page
        late = sorted(everyone)[number :: FLEET // 40]
        mine = clients.c.uuid.in_(late)
        inside.execute(sa.update(clients).where(mine).values(status="late", status_since=sa.func.now(), tags=["new"]))
        inside.execute(sa.update(client_heartbeats).values(last_heartbeat_at=sa.func.now()))

    assert len(read) == len(set(read))
    assert set(read) == everyone


FILTERS: list[tuple[DisplayFilter, Any]] = [
    (DisplayFilter(ClientFilter(site="Site, 7")), lambda row: row["site"] == "Site, 7"),
    (DisplayFilter(ClientFilter(), nosite=True), lambda row: not row["site"]),
    (DisplayFilter(ClientFilter(tag="lobby")), lambda row: "lobby" in row["tags"]),
    (DisplayFilter(ClientFilter(text="PLAY 7")), lambda row: "play 7" in row["name"].lower()),
    (DisplayFilter(ClientFilter(screen_failed=True)), lambda row: row["screen_failed_since"]),
    (DisplayFilter(ClientFilter(), statuses=["late", "running"]), lambda row: row["status"] in ("late", "running")),
    (DisplayFilter(ClientFilter(), limit_passed=True), lambda row: row["limits"]),
    (DisplayFilter(ClientFilter(), incident=1), lambda _row: False),
    (DisplayFilter(ClientFilter(), uuids=[NINTH]), lambda row: row["uuid"] == NINTH),
    (
        DisplayFilter(ClientFilter(site="Site, 4"), statuses=["stale"]),
        lambda row: (row["site"], row["status"]) == ("Site, 4", "stale"),
    ),
]


@pytest.mark.parametrize(("wanted", "keeps"), FILTERS, ids=range(len(FILTERS)))
def test_a_filter_keeps_the_same_displays_as_the_whole_list(
    inside: Connection, wanted: DisplayFilter, keeps: Any
) -> None:
    everyone = rows_of(look(inside, most=None))

    found = [uuid for page in pages(inside, wanted, 37) for uuid in page]

    assert len(found) == len(set(found))
    assert set(found) == {row["uuid"] for row in everyone if keeps(row)}
    assert found or wanted.incident


def narrow(connection: Connection, now: datetime, sites: list[str]) -> None:
    """Go on as a token for these sites."""
    token, _ = access.issue_token(connection, now, "t", Role.VIEWER, "tests", now + timedelta(days=1), sites)
    assert sites_store.narrow(connection, PrincipalKind.TOKEN, token.id, Role.VIEWER, to_write=False) is not None


def test_a_caller_of_some_sites_sees_their_counts_and_displays_only(inside: Connection) -> None:
    sites = ["Site, 3", "Site, 7"]
    expected = {site: counts for site, counts in places_of(look(inside)).items() if site in sites}
    narrow(inside, database_now(inside), sites)

    own = sum(counts.total() for counts in expected.values())
    seen = look(inside, most=own - 1, sites=sites)

    assert places_of(seen) == expected
    assert {row["site"] for row in rows_of(seen)} <= set(sites)
    assert look(inside, most=own, sites=sites).places is None  # of the fleet that the caller may see
    assert sum(map(len, pages(inside, DisplayFilter(ClientFilter()), 50))) == own
    assert list(pages(inside, DisplayFilter(ClientFilter(site="Site, 4")), 50)) == [[]]
