"""Lists and figures of a large fleet: an index serves each statement that the stores send."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from deploy.parts.probes import wait_until
from shared.clients import limits_store, statuses_store
from shared.clients import store as clients_store
from shared.clients.store import ClientFilter
from shared.incidents import failures_store
from shared.incidents.failures_store import Since
from shared.overview import large_store, problems_store, store, summary_store
from shared.overview.large_store import DisplayFilter
from shared.overview.rules import Counts
from shared.postgres.door import database_now, transaction
from shared.quiet import operations as quiet_times
from shared.quiet.rules import QuietNow
from shared.vocabulary import ClientStatus, Quiet, QuietPreset, Symptom
from tests.stores.query_plans import plan_of
from tests.stores.quiet_world import make, wanted

FLEET = 5_000
FILL = (
    """
    INSERT INTO clients (uuid, name, site, registered_by, status, process_status, app_version, tags)
    SELECT '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'Display ' || n, 'Site ' || mod(n, 100), 'enrolment',
        CASE WHEN mod(n, 500) = 0 THEN 'crashed' ELSE 'running' END,
        CAST(CASE WHEN mod(n, 500) = 0 THEN 'crashed' ELSE 'running' END AS process_status),
        '1.' || mod(n, 5), CASE WHEN mod(n, 4) = 0 THEN ARRAY['lobby'] ELSE ARRAY[]::text[] END
    FROM generate_series(1, CAST(:fleet AS int)) AS n
    """,
    "INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at) SELECT uuid, now() FROM clients",
    """
    INSERT INTO client_health (client_uuid, received_at, disk_percent, memory_percent, temperature_celsius,
        certificate_ends_at, under_voltage, clock_ahead_seconds, body)
    SELECT uuid, now(), CASE WHEN right(uuid, 3) = '333' THEN 94 ELSE 20 + right(uuid, 2)::int / 3 END,
        40 + right(uuid, 1)::int, 50, now() + interval '300 days', false, 0.1, '{}' FROM clients
    """,
    """
    INSERT INTO client_limits (client_uuid, kind, over_since, passed_at, value, limit_at)
    SELECT client_uuid, 'disk', received_at, received_at, disk_percent, 90 FROM client_health WHERE disk_percent > 90
    """,
    "UPDATE clients SET service_failed_at = now(), service_failed_unit = 'x' WHERE right(uuid, 3) = '777'",
)


@pytest.fixture(scope="module")
def filled(engine: Engine) -> Engine:
    with transaction(engine) as connection:
        connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        for statement in FILL:
            connection.execute(sa.text(statement), {"fleet": FLEET} if ":fleet" in statement else {})
    wait_until(lambda: _is_vacuumed(engine), 60)
    return engine


def _is_vacuumed(engine: Engine) -> bool:
    """Vacuum, as Postgres does later by itself. Returns whether it succeeded: an open snapshot can prevent it."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as outside:
        outside.execute(sa.text("VACUUM ANALYZE"))
        seen = "SELECT relpages = relallvisible FROM pg_class WHERE oid = 'clients'::regclass"
        return bool(outside.execute(sa.text(seen)).scalar_one())


@pytest.fixture
def scaled(filled: Engine) -> Iterator[Connection]:
    with filled.connect() as opened, opened.begin() as begun:
        yield opened
        begun.rollback()


def counts(connection: Connection, _recovery: Any) -> Counts:
    return store.counts(connection)


def indexes(plan: list[dict[str, Any]]) -> set[str]:
    return {node["Index Name"] for node in plan if "Index Name" in node}


def looked_at(plan: list[dict[str, Any]], table: str) -> float:
    """How many rows of a table were read, including those that a filter dropped."""
    scans = [node for node in plan if node.get("Relation Name") == table]
    return float(sum((n["Actual Rows"] + n.get("Rows Removed by Filter", 0)) * n["Actual Loops"] for n in scans))


PAGES: list[tuple[str, ClientFilter, tuple[str, str] | None, int]] = [
    ("all", ClientFilter(), None, 100),
    ("from a cursor on", ClientFilter(), ("Display 3", ""), 100),
    ("a tag", ClientFilter(tag="lobby"), None, 400),
    ("a version", ClientFilter(version="1.3"), None, 500),
    ("not stale", ClientFilter(stale=False), None, 100),
    ("a shown state that is rare", ClientFilter(status=ClientStatus.CRASHED), None, 100),
    ("stale ones, of which there are none", ClientFilter(stale=True), None, 100),
    ("a failed service", ClientFilter(service_failed=True), None, 100),
    ("a site", ClientFilter(site="Site 7"), None, 200),
]


HOW = pytest.mark.parametrize("kept", [False, True], ids=["the first time", "kept"])


@HOW
@pytest.mark.parametrize(("what", "wanted", "after", "most"), PAGES, ids=[page[0] for page in PAGES])
def test_a_page_of_clients_reads_about_what_it_shows(
    scaled: Connection, what: str, wanted: ClientFilter, after: tuple[str, str] | None, most: int, kept: bool
) -> None:
    plan = plan_of(scaled, lambda connection: clients_store.page(connection, wanted, 26, after), kept=kept)

    assert looked_at(plan, "clients") <= most, what
    assert looked_at(plan, "client_heartbeats") <= FLEET, what  # read at most once, before a sort


@HOW
def test_what_a_large_fleet_is_asked_for_reads_about_what_it_tells(scaled: Connection, kept: bool) -> None:
    page = DisplayFilter(ClientFilter(site="Site 7"))
    changed = list(scaled.execute(sa.text("SELECT uuid FROM clients WHERE site = 'Site 8' LIMIT 5")).scalars())

    plans = [
        plan_of(scaled, ask, kept=kept)
        for ask in (
            lambda c: large_store.displays(c, page, 26, None),
            lambda c: large_store.displays(c, DisplayFilter(ClientFilter()), 26, ("Display 3", "")),
            lambda c: large_store.places(c, [], ["Site 8"]),
            lambda c: large_store.sites_of(c, changed),
            lambda c: large_store.first(c, datetime.now(UTC), [], 100),
        )
    ]

    assert [looked_at(plan, "clients") <= 200 for plan in plans] == [True] * len(plans)


FIGURES: list[tuple[str, str, Callable[[Connection], Any], int]] = [
    ("whom recovery speaks of", "ix_clients_unwell", store.unwell, 100),
    ("how many are in each state", "ix_clients_status", store.counts, FLEET + 100),
    (
        "failed clients",
        "ix_clients_service_failed_at",
        lambda c: problems_store.failed(c, datetime.now(UTC), 1000),
        100,
    ),
]


@pytest.mark.parametrize(("what", "index", "ask", "most"), FIGURES, ids=[figure[0] for figure in FIGURES])
def test_a_figure_of_the_fleet_is_served_by_its_index(
    scaled: Connection, what: str, index: str, ask: Callable[[Connection], Any], most: int
) -> None:
    plan = plan_of(scaled, ask)

    assert index in indexes(plan), what
    assert looked_at(plan, "clients") <= most, what


@HOW
def test_a_poll_counts_by_one_index_and_finds_failures_and_changes_by_others(scaled: Connection, kept: bool) -> None:
    since, now = summary_store.summary(scaled, datetime.now(UTC), None, 1000, 50).xid, datetime.now(UTC)
    scaled.execute(sa.text("UPDATE clients SET name = 'Changed' WHERE right(uuid, 3) = '555'"))

    plan = plan_of(scaled, lambda c: summary_store.summary(c, now, since, 1000, 50), kept=kept)

    assert {"ix_clients_status", "ix_clients_service_failed_at", "ix_clients_changed_xid"} <= indexes(plan)
    assert FLEET <= looked_at(plan, "clients") <= FLEET + 200
    assert len(summary_store.summary(scaled, now, since, 1000, 50).changed) == FLEET // 1000


@HOW
@pytest.mark.parametrize("number", [10, FLEET])
def test_whom_recovery_speaks_of_among_some_is_found_by_looking_at_them_at_most(
    scaled: Connection, number: int, kept: bool
) -> None:
    uuids = list(scaled.execute(sa.text("SELECT uuid FROM clients LIMIT :number"), {"number": number}).scalars())

    plan = plan_of(scaled, lambda connection: store.unwell_among(connection, uuids), kept=kept)

    assert looked_at(plan, "clients") <= 2 * number + 100


@HOW
def test_the_tick_finds_what_passes_a_limit_in_one_look_through_the_reports(scaled: Connection, kept: bool) -> None:
    """Each minute: the reports are read once, their displays only where something is to be judged."""
    fresh_since = database_now(scaled) - timedelta(minutes=15)

    plan = plan_of(scaled, lambda c: limits_store.to_judge(c, fresh_since), kept=kept)

    assert FLEET <= looked_at(plan, "client_health") <= FLEET + 100
    assert looked_at(plan, "clients") <= 100
    assert looked_at(plan, "client_limits") <= 100
    assert len(limits_store.to_judge(scaled, fresh_since)) == FLEET // 1000


@pytest.mark.parametrize("ask", [store.whole_fleet, counts], ids=["the overview", "the counts"])
def test_passed_limits_are_read_once_for_the_whole_fleet(scaled: Connection, ask: Callable[..., Any]) -> None:
    plan = plan_of(scaled, lambda c: ask(c, {}))

    assert looked_at(plan, "client_limits") <= 100


@HOW
def test_who_is_crashed_is_found_by_one_look_through_the_heartbeats(scaled: Connection, kept: bool) -> None:
    now = database_now(scaled)

    plan = plan_of(scaled, lambda c: problems_store.crashed(c, now, timedelta(seconds=180), 1000), kept=kept)

    assert looked_at(plan, "clients") <= 100
    assert FLEET <= looked_at(plan, "client_heartbeats") <= FLEET + 100


@HOW
def test_a_sweep_looks_through_the_heartbeats_and_joins_odd_displays_alone(scaled: Connection, kept: bool) -> None:
    """Each five seconds: to read each client as well would hold the bridge's one thread ten times as long."""
    scaled.execute(sa.text("UPDATE clients SET status = 'late' WHERE right(uuid, 3) = '444'"))
    now = database_now(scaled)

    plan = plan_of(scaled, lambda c: statuses_store.ODD.all(c, now=now), kept=kept)

    assert looked_at(plan, "clients") <= 100
    assert looked_at(plan, "client_heartbeats") <= FLEET + 100
    assert len(statuses_store.ODD.all(scaled, now=now)) == FLEET // 1000


def test_a_thousand_that_are_silent_are_found_as_well(scaled: Connection) -> None:
    scaled.execute(sa.text("UPDATE client_heartbeats SET last_heartbeat_at = now() - interval '1 hour'"))
    now = database_now(scaled)

    assert len(problems_store.crashed(scaled, now, timedelta(seconds=180), 1000).clients) == 1000
    assert len(problems_store.crashed(scaled, now, timedelta(seconds=180), 2 * FLEET).clients) == FLEET


def compared(plan: list[dict[str, Any]]) -> float:
    """How many pairs of rows the joins compared in vain."""
    return float(sum(node.get("Rows Removed by Join Filter", 0) * node["Actual Loops"] for node in plan))


def half_silent(connection: Connection) -> datetime:
    """Let half the fleet fall silent at once; Postgres has no statistics of it yet.

    Postgres has as little memory for one list of displays as a fleet of 150,000 has of the usual 4 MB.
    """
    now = database_now(connection)
    at = {"at": now, "silent": now - timedelta(minutes=4)}
    for statement in (
        "UPDATE client_heartbeats SET last_heartbeat_at = :silent WHERE right(client_uuid, 1) < '5'",
        "UPDATE clients SET status = 'stale', status_since = :at WHERE right(uuid, 1) < '5'",
        """
        INSERT INTO client_state_changes (client_uuid, at, noticed_at, from_status, to_status, cause)
        SELECT uuid, :at, :at, 'running', 'stale', '{}' FROM clients WHERE status = 'stale'
        """,
    ):
        connection.execute(sa.text(statement), {name: value for name, value in at.items() if f":{name}" in statement})
    connection.execute(sa.text("SET LOCAL work_mem = '128kB'"))
    return now


def test_who_failed_when_half_the_fleet_did_is_found_without_comparing_all_with_all(scaled: Connection) -> None:
    now = half_silent(scaled)
    since = Since(now - timedelta(minutes=5), now - timedelta(days=1))

    plan = plan_of(scaled, lambda c: failures_store.failed(c, now, since, [], QuietNow()))

    assert compared(plan) <= FLEET
    assert looked_at(plan, "clients") <= 4 * FLEET
    found = failures_store.failed(scaled, now, since, [], QuietNow())
    assert [one.symptom for one in found].count(Symptom.SILENT) == FLEET // 2


def test_a_quiet_time_of_the_whole_fleet_is_looked_up_once_for_all_silent_displays(scaled: Connection) -> None:
    now = half_silent(scaled)
    make(scaled, now, wanted(QuietPreset.CUSTOM, quiet=(Quiet.SCREEN,), until=now + timedelta(hours=1)))
    found = quiet_times.now_quiet(scaled, now)
    since = Since(now - timedelta(minutes=5), now - timedelta(days=1))

    plan = plan_of(scaled, lambda c: failures_store.failed(c, now, since, [], found))

    assert compared(plan) <= FLEET
    assert failures_store.failed(scaled, now, since, [], found) == []
