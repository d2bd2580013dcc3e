"""Incidents on real Postgres: opened, joined, left, merged, closed; twice, at once and half-way."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from shared import config
from shared.clients import operations as clients_operations
from shared.config import Config
from shared.db import database_now
from shared.errors import IncidentNotFound
from shared.incidents import operations, store
from shared.incidents.operations import IncidentReport
from shared.incidents.timeline import operations as told
from shared.incidents.timeline import store as timeline
from shared.incidents.timeline.store import IncidentFilter
from shared.tables import (
    bridge_status,
    client_heartbeats,
    client_state_changes,
    clients,
    incident_members,
    incidents,
    recovery_events,
    scheduler_status,
)
from tests.stores.commands_world import add_client, issue, seconds

CONFIG: Config = config.load({})
NOTHING = IncidentReport()
MINUTE = timedelta(minutes=1)


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    listen(connection, at)
    return at


def listen(connection: Connection, at: datetime, since: datetime | None = None) -> None:
    """The bridge listens, and did for a day unless `since` says since when."""
    values = {"connected_since": since or at - timedelta(days=1), "canary_at": at}
    connection.execute(sa.update(bridge_status).values(**values))


def site(connection: Connection, now: datetime, name: str | None = "Rome", count: int = 12, **facts: Any) -> list[str]:
    """A site whose displays run; they were just heard."""
    return [add_client(connection, now, site=name, status="running", **facts) for _ in range(count)]


def change(connection: Connection, at: datetime, uuids: Sequence[str], status: str) -> None:
    """Their shown state becomes this one, as the sweep and the bridge write it."""
    mine = clients.c.uuid.in_(uuids)
    rows = [{"client_uuid": u, "at": at, "from_status": "x", "to_status": status, "cause": "test"} for u in uuids]
    connection.execute(sa.update(clients).where(mine).values(status=status, status_since=at))
    connection.execute(sa.insert(client_state_changes), rows)


def go_silent(connection: Connection, at: datetime, uuids: Sequence[str], heard_before: float = 190) -> None:
    """They are noticed to be silent: their last heartbeats came so many seconds before, a second apart."""
    for number, uuid in enumerate(uuids):
        heard_at = at - seconds(heard_before) + seconds(number)
        mine = client_heartbeats.c.client_uuid == uuid
        connection.execute(sa.update(client_heartbeats).where(mine).values(last_heartbeat_at=heard_at))
    change(connection, at, uuids, "stale")


def come_back(connection: Connection, at: datetime, uuids: Sequence[str]) -> None:
    mine = client_heartbeats.c.client_uuid.in_(uuids)
    connection.execute(sa.update(client_heartbeats).where(mine).values(last_heartbeat_at=at))
    change(connection, at, uuids, "running")


def observe(connection: Connection, at: datetime) -> IncidentReport:
    connection.execute(sa.update(bridge_status).values(canary_at=at))
    return operations.observe(connection, at, CONFIG)


def all_of(connection: Connection, **wanted: Any) -> list[dict[str, Any]]:
    """Incidents as a list shows them, the oldest first."""
    return [dict(row) for row in reversed(timeline.page(connection, IncidentFilter(**wanted), 100, None))]


def only(connection: Connection) -> dict[str, Any]:
    [row] = all_of(connection)
    return row


def happened(connection: Connection, incident_id: int) -> list[tuple[str, int | None]]:
    """(kind, displays) of the timeline, the oldest first."""
    return [(event.kind.value, event.count) for event in reversed(told.events(connection, incident_id, 100, None))]


def test_a_quiet_fleet_has_no_incident(connection: Connection, now: datetime) -> None:
    site(connection, now)

    assert observe(connection, now) == NOTHING


def test_displays_of_a_site_that_fall_silent_together_are_one_incident(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    go_silent(connection, now, fleet[:11])

    report = observe(connection, now)

    incident = only(connection)
    assert report == IncidentReport(opened=1, joined=11)
    assert (incident["kind"], incident["key"], incident["group_size"]) == ("site", "Rome", 12)
    assert (incident["members"], incident["unwell"], incident["closed_at"]) == (11, 11, None)
    assert (incident["opened_at"], incident["began_at"]) == (now, now - seconds(190))
    assert incident["cause"].startswith("11 of 12 displays at site Rome went silent within 10 s; the network or power")


def test_looking_again_changes_nothing(connection: Connection, now: datetime) -> None:
    go_silent(connection, now, site(connection, now)[:5])
    observe(connection, now)
    before = only(connection)

    assert observe(connection, now) == NOTHING
    assert observe(connection, now + MINUTE) == NOTHING
    assert only(connection) == before


def test_two_displays_are_a_coincidence(connection: Connection, now: datetime) -> None:
    go_silent(connection, now, site(connection, now, count=4)[:2])

    assert observe(connection, now) == NOTHING


def test_failures_noticed_a_minute_apart_add_up(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now, count=8)
    go_silent(connection, now, fleet[:2])
    assert observe(connection, now) == NOTHING
    go_silent(connection, now + MINUTE, fleet[2:4])

    assert observe(connection, now + MINUTE).joined == 4


def test_failures_noticed_while_no_tick_came_are_not_lost(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now, count=8)
    observe(connection, now)
    go_silent(connection, now + MINUTE, fleet[:4])

    assert observe(connection, now + timedelta(hours=2)).opened == 1


def test_a_display_that_fails_later_joins_and_the_cause_says_so(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    go_silent(connection, now, fleet[:4])
    observe(connection, now)
    go_silent(connection, now + MINUTE, fleet[4:9])

    assert observe(connection, now + MINUTE) == IncidentReport(joined=5)
    assert only(connection)["cause"].startswith("9 of 12 displays at site Rome went silent within 64 s")


def test_members_leave_when_they_are_well_and_the_incident_closes_a_while_after_the_last(
    connection: Connection, now: datetime
) -> None:
    fleet = site(connection, now)[:4]
    go_silent(connection, now, fleet)
    observe(connection, now)

    come_back(connection, now + 2 * MINUTE, fleet[:3])
    assert observe(connection, now + 2 * MINUTE) == IncidentReport(left=3)
    assert (only(connection)["members"], only(connection)["unwell"]) == (4, 1)
    come_back(connection, now + 4 * MINUTE, fleet[3:])
    assert observe(connection, now + 4 * MINUTE) == IncidentReport(left=1)
    assert observe(connection, now + 8 * MINUTE) == NOTHING
    assert observe(connection, now + 9 * MINUTE) == IncidentReport(closed=1)

    incident = only(connection)
    assert incident["closed_at"] == now + 9 * MINUTE
    assert happened(connection, incident["id"]) == [
        ("joined", 4),
        ("opened", None),
        ("left", 3),
        ("left", 1),
        ("closed", None),
    ]


def test_one_that_fails_again_before_it_is_closed_joins_again(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:4]
    go_silent(connection, now, fleet)
    observe(connection, now)
    come_back(connection, now + MINUTE, fleet)
    observe(connection, now + MINUTE)
    go_silent(connection, now + 5 * MINUTE, fleet[:1])

    assert observe(connection, now + 5 * MINUTE) == IncidentReport(joined=1)
    assert observe(connection, now + 30 * MINUTE) == NOTHING  # it stays open
    assert (only(connection)["members"], only(connection)["unwell"]) == (4, 1)


def test_the_same_place_again_shortly_after_reopens_it(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:4]
    go_silent(connection, now, fleet)
    observe(connection, now)
    come_back(connection, now + MINUTE, fleet)
    observe(connection, now + MINUTE)
    assert observe(connection, now + 7 * MINUTE).closed == 1

    go_silent(connection, now + 20 * MINUTE, fleet)
    assert observe(connection, now + 20 * MINUTE) == IncidentReport(opened=1, joined=4)

    incident = only(connection)
    assert (incident["closed_at"], incident["unwell"], incident["members"]) == (None, 4, 4)
    assert [kind for kind, _ in happened(connection, incident["id"])][-2:] == ["reopened", "joined"][::-1]


def test_the_same_place_the_next_day_is_another_incident(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:4]
    for at in (now, now + timedelta(days=1)):
        go_silent(connection, at, fleet)
        observe(connection, at)
        come_back(connection, at + MINUTE, fleet)
        observe(connection, at + MINUTE)
        observe(connection, at + 7 * MINUTE)

    assert [row["opened_at"] for row in all_of(connection)] == [now, now + timedelta(days=1)]


def test_displays_without_a_site_are_grouped_by_subnet_v4_and_v6(connection: Connection, now: datetime) -> None:
    four = [add_client(connection, now, status="running", ip=f"10.1.2.{n}") for n in range(10, 15)]
    six = [add_client(connection, now, status="running", ip=f"2001:db8:0:1::{n}") for n in range(1, 4)]
    bad = [add_client(connection, now, status="running", ip=text) for text in ("", "unknown", "10.1.2.300", "::zz")]
    go_silent(connection, now, four[:4])
    go_silent(connection, now, six, 900)
    go_silent(connection, now, bad)

    assert observe(connection, now).opened == 2

    found = {row["key"]: row for row in all_of(connection)}
    assert set(found) == {"10.1.2.0/24", "2001:db8:0:1::/64"}
    assert (found["10.1.2.0/24"]["members"], found["10.1.2.0/24"]["group_size"]) == (4, 5)


def test_what_fails_at_once_everywhere_is_one_incident(connection: Connection, now: datetime) -> None:
    for name in ("Rome", "Oslo", "Lyon", "Bern"):
        go_silent(connection, now, site(connection, now, name, 6))

    assert observe(connection, now) == IncidentReport(opened=1, joined=24)
    incident = only(connection)
    assert (incident["kind"], incident["members"]) == ("cluster", 24)
    assert "24 displays at 4 sites went silent" in incident["cause"]


def test_sites_that_turn_out_to_have_failed_at_once_become_one_incident(connection: Connection, now: datetime) -> None:
    rome, oslo, lyon = (site(connection, now, name, 6) for name in ("Rome", "Oslo", "Lyon"))
    go_silent(connection, now, rome)
    go_silent(connection, now, oslo)
    assert observe(connection, now).opened == 2
    go_silent(connection, now + MINUTE, lyon, 250)

    assert observe(connection, now + MINUTE) == IncidentReport(opened=1, joined=6, merged=2)

    first, second, whole = all_of(connection)
    assert (first["merged_into"], second["merged_into"]) == (whole["id"], whole["id"])
    assert (first["members"], first["closed_at"], whole["members"], whole["unwell"]) == (0, now + MINUTE, 18, 18)
    assert [kind for kind, _ in happened(connection, whole["id"])].count("merged") == 2
    assert happened(connection, first["id"])[-1] == ("merged", None)
    assert set(operations.open_incident_of(connection, rome)) == set(rome)


def test_a_crash_of_many_players_is_an_incident_and_speaks_of_content(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    change(connection, now, fleet[:6], "crashed")

    observe(connection, now)

    assert "6 of 12 displays at site Rome crashed at once; what they were given to show" in only(connection)["cause"]


def test_failed_services_are_an_incident_until_they_are_acknowledged(connection: Connection, now: datetime) -> None:
    facts: dict[str, Any] = {"service_failed_at": now - seconds(5), "service_failed_unit": "sync.service"}
    fleet = site(connection, now, count=4, **facts)
    assert observe(connection, now).opened == 1
    assert "reported that sync.service failed" in only(connection)["cause"]

    assert observe(connection, now + MINUTE) == NOTHING
    clients_operations.clear_service_failed(connection, now + MINUTE, fleet[0], "user:anna", None)
    assert observe(connection, now + MINUTE).left == 1


def test_a_short_loss_of_the_broker_is_an_incident_that_closes_by_itself(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now, count=6, mqtt_last_disconnect_at=now - seconds(50))

    assert observe(connection, now) == IncidentReport(opened=1, joined=6)
    assert observe(connection, now + MINUTE) == IncidentReport(left=6)
    assert observe(connection, now + 6 * MINUTE) == IncidentReport(closed=1)
    assert "lost the broker and came back" in only(connection)["cause"]
    assert operations.open_incident_of(connection, fleet) == {}


def test_losses_of_the_broker_that_were_our_own_are_none_of_the_displays(connection: Connection, now: datetime) -> None:
    listen(connection, now, since=now - 2 * MINUTE)
    site(connection, now, count=6, mqtt_last_disconnect_at=now - seconds(100))
    site(connection, now, "Oslo", count=6, mqtt_last_disconnect_at=now + seconds(50))  # its clock is ahead

    assert observe(connection, now) == NOTHING


def test_displays_that_are_silent_for_long_are_no_news_when_the_bridge_comes_back(
    connection: Connection, now: datetime
) -> None:
    listen(connection, now, since=now - 4 * MINUTE)
    fleet = site(connection, now, count=8)
    for number, uuid in enumerate(fleet[:4]):  # each died on a day of its own; all are shown as stale anew
        go_silent(connection, now, [uuid], 86_400 * 0.1 * (number + 1))

    assert observe(connection, now) == NOTHING


def test_a_whole_site_that_died_months_ago_is_no_news_either(connection: Connection, now: datetime) -> None:
    go_silent(connection, now, site(connection, now), 90 * 86_400)

    assert observe(connection, now) == NOTHING


def deaf(connection: Connection, at: datetime) -> IncidentReport:
    """A look while the canary is long gone."""
    connection.execute(sa.update(bridge_status).values(canary_at=at - timedelta(minutes=10)))
    return operations.observe(connection, at, CONFIG)


def test_our_own_silence_is_one_incident_and_judges_no_display(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    go_silent(connection, now, fleet)

    assert deaf(connection, now) == IncidentReport(opened=1, deaf=True)
    assert deaf(connection, now + MINUTE) == IncidentReport(deaf=True)

    incident = only(connection)
    assert (incident["kind"], incident["members"], incident["began_at"]) == ("listening", 0, now - 10 * MINUTE)
    assert incident["cause"].startswith("We do not hear the fleet")
    assert happened(connection, incident["id"]) == [("opened", None)]

    come_back(connection, now + 2 * MINUTE, fleet)
    assert observe(connection, now + 2 * MINUTE) == IncidentReport(closed=1)
    assert deaf(connection, now + 5 * MINUTE).opened == 1  # again so soon: the same one
    assert [kind for kind, _ in happened(connection, only(connection)["id"])] == ["opened", "closed", "reopened"]


def test_while_we_are_deaf_nobody_leaves_and_nothing_closes(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:4]
    go_silent(connection, now, fleet)
    observe(connection, now)
    come_back(connection, now + MINUTE, fleet)

    assert deaf(connection, now + 20 * MINUTE).left == 0
    assert set(operations.open_incident_of(connection, fleet)) == set(fleet)


def test_displays_of_which_nothing_is_known_stay_members(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:4]
    go_silent(connection, now, fleet)
    observe(connection, now)
    change(connection, now + MINUTE, fleet, "unknown")

    assert observe(connection, now + MINUTE) == NOTHING


def test_a_bridge_that_was_never_started_is_no_incident(connection: Connection, now: datetime) -> None:
    connection.execute(sa.update(bridge_status).values(canary_at=None, connected_since=None))

    assert operations.observe(connection, now, CONFIG) == IncidentReport(deaf=True)
    assert all_of(connection) == []


def test_a_deleted_display_leaves(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:4]
    go_silent(connection, now, fleet)
    observe(connection, now)
    clients_operations.delete(connection, now, fleet[0])

    assert observe(connection, now + MINUTE) == IncidentReport(left=1)


def test_everybody_is_told_which_incident_a_display_is_in(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    go_silent(connection, now, fleet[:5])
    observe(connection, now)
    come_back(connection, now + MINUTE, fleet[:1])
    observe(connection, now + MINUTE)

    found = operations.open_incident_of(connection, fleet)

    assert set(found) == set(fleet[1:5])
    incident = only(connection)
    assert {(m.id, m.cause) for m in found.values()} == {(incident["id"], incident["cause"])}


def test_the_timeline_tells_commands_and_recovery_of_its_members_as_one_entry_each(
    connection: Connection, now: datetime
) -> None:
    fleet = site(connection, now)
    go_silent(connection, now, fleet[:4])
    observe(connection, now)
    for uuid in [*fleet[:2], fleet[11]]:
        issue(connection, now + MINUTE, uuid)
    event = {"at": now + MINUTE, "decision": "none", "why": "Held.", "evidence": {}}
    connection.execute(sa.insert(recovery_events), [{**event, "client_uuid": uuid} for uuid in fleet[:3]])

    events = told.events(connection, only(connection)["id"], 100, None)

    by_kind = {event.kind.value: event for event in events}
    assert [event.kind.value for event in events] == ["recovery", "command", "opened", "joined"]
    assert (by_kind["command"].count, set(by_kind["command"].uuids)) == (2, set(fleet[:2]))
    assert by_kind["recovery"].title == "Recovery does nothing for 3 displays: Held."
    assert by_kind["opened"].title == only(connection)["cause"]


def test_timeline_members_and_list_are_paged_without_gap_or_repetition(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:6]
    go_silent(connection, now, fleet)
    observe(connection, now)
    for minute, uuid in enumerate(fleet, 1):
        come_back(connection, now + minute * MINUTE, [uuid])
        observe(connection, now + minute * MINUTE)
    incident_id = only(connection)["id"]
    whole = told.events(connection, incident_id, 100, None)

    paged: list[told.Event] = []
    while part := told.events(connection, incident_id, 3, position(paged)):
        paged += part
    names: list[str] = []
    while rows := timeline.members_page(connection, incident_id, 4, ("", names[-1]) if names else None):
        names += [row["uuid"] for row in rows]

    assert paged == whole
    assert len(whole) == 8
    assert names == sorted(fleet)


def position(events: list[told.Event]) -> tuple[datetime, str, str] | None:
    """Where a reader of these events goes on."""
    return (events[-1].at, events[-1].kind.value, events[-1].key) if events else None


def test_the_list_is_narrowed_by_state_site_and_time(connection: Connection, now: datetime) -> None:
    rome, oslo = site(connection, now, "Rome"), site(connection, now, "Oslo")
    go_silent(connection, now, rome[:4])
    observe(connection, now)
    come_back(connection, now + MINUTE, rome)
    observe(connection, now + MINUTE)
    observe(connection, now + 7 * MINUTE)
    go_silent(connection, now + 9 * MINUTE, oslo[:4])
    observe(connection, now + 9 * MINUTE)

    def keys(**wanted: Any) -> list[str]:
        return [row["key"] for row in all_of(connection, **wanted)]

    assert keys() == ["Rome", "Oslo"]
    assert (keys(is_open=True), keys(is_open=False)) == (["Oslo"], ["Rome"])
    assert (keys(site="Rome"), keys(site="Bern")) == (["Rome"], [])
    assert keys(since=now + 7 * MINUTE) == ["Rome", "Oslo"]
    assert keys(since=now + 8 * MINUTE) == ["Oslo"]


def test_history_of_closed_incidents_is_dropped_by_age(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:4]
    go_silent(connection, now, fleet)
    observe(connection, now)
    assert store.drop_history(connection, now + timedelta(days=400)) == 0  # open
    come_back(connection, now + MINUTE, fleet)
    observe(connection, now + MINUTE)
    observe(connection, now + 7 * MINUTE)

    assert store.drop_history(connection, now + 7 * MINUTE) == 0
    assert store.drop_history(connection, now + 8 * MINUTE) == 1
    with pytest.raises(IncidentNotFound):
        told.find(connection, 1)


def test_looks_at_the_same_time_open_one_incident(engine: Engine) -> None:
    with engine.begin() as connection:
        at = database_now(connection)
        listen(connection, at)
        connection.execute(sa.update(scheduler_status).values(incidents_at=None))
        fleet = site(connection, at, "Overlap")
        go_silent(connection, at, fleet)

    def look(_number: int) -> IncidentReport:
        with engine.begin() as connection:
            return operations.observe(connection, database_now(connection), CONFIG)

    with ThreadPoolExecutor(6) as pool:
        reports = list(pool.map(look, range(6)))

    assert sorted(report.joined for report in reports) == [0, 0, 0, 0, 0, 12]
    with engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(incident_members)).scalar_one() == 12
        assert connection.execute(sa.select(incidents.c.key)).scalars().all() == ["Overlap"]


def test_a_look_whose_connection_is_killed_before_its_end_is_made_again_whole(engine: Engine) -> None:
    with engine.begin() as connection:
        at = database_now(connection)
        listen(connection, at)
        fleet = site(connection, at, "Killed")
        go_silent(connection, at, fleet)

    with pytest.raises(DBAPIError):
        look_and_be_killed(engine, at)

    with engine.begin() as connection:
        assert operations.open_incident_of(connection, fleet) == {}
        assert operations.observe(connection, at, CONFIG).joined == 12
        assert set(operations.open_incident_of(connection, fleet)) == set(fleet)


def look_and_be_killed(engine: Engine, at: datetime) -> None:
    with engine.begin() as doomed:
        assert operations.observe(doomed, at, CONFIG).joined == 12
        own = doomed.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
        with engine.begin() as other:
            other.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": own})
