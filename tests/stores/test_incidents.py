"""Incidents on real Postgres: opened, joined, left, closed; repeated, concurrent, interrupted, with a deaf bridge."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from shared.clients import operations as clients_operations
from shared.incidents import operations
from shared.incidents.operations import IncidentReport
from shared.postgres.door import database_now
from shared.tables import bridge_status, incident_members, incidents, scheduler_status
from tests.stores.commands_world import seconds
from tests.stores.incidents_world import (
    MINUTE,
    NOTHING,
    all_of,
    change,
    come_back,
    go_silent,
    happened,
    listen,
    lose,
    notice_return,
    notice_silence,
    observe,
    only,
    site,
)


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    listen(connection, at)
    return at


@pytest.fixture
def dark(connection: Connection, now: datetime) -> list[str]:
    """Four of the twelve displays of Rome, which fell silent and are one open incident."""
    uuids = site(connection, now)[:4]
    notice_silence(connection, now, uuids)
    return uuids


def test_displays_of_a_site_that_fall_silent_together_are_one_incident(connection: Connection, now: datetime) -> None:
    report = notice_silence(connection, now, site(connection, now)[:11])

    incident = only(connection)
    assert report == IncidentReport(opened=1, joined=11)
    assert (incident["kind"], incident["site"], incident["group_size"]) == ("site", "Rome", 12)
    assert (incident["members"], incident["unwell"], incident["closed_at"]) == (11, 11, None)
    assert (incident["opened_at"], incident["began_at"]) == (now, now - seconds(190))
    assert incident["cause"].startswith("11 of 12 displays at site Rome went silent within 10 s; the network or power")
    assert (observe(connection, now), observe(connection, now + MINUTE)) == (NOTHING, NOTHING)
    assert only(connection) == incident


def test_failures_noticed_a_minute_apart_add_up(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now, count=8)

    assert notice_silence(connection, now, fleet[:2]) == NOTHING  # two are a coincidence
    assert notice_silence(connection, now + MINUTE, fleet[2:4]).joined == 4


def test_failures_noticed_while_no_tick_came_are_not_lost(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now, count=8)
    assert observe(connection, now) == NOTHING
    go_silent(connection, now + MINUTE, fleet[:4])

    assert observe(connection, now + timedelta(hours=2)).opened == 1


def test_a_display_that_fails_later_joins_and_the_cause_says_so(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    notice_silence(connection, now, fleet[:4])

    assert notice_silence(connection, now + MINUTE, fleet[4:9]) == IncidentReport(joined=5)
    assert only(connection)["cause"].startswith("9 of 12 displays at site Rome went silent within 64 s")


def test_members_leave_when_well_and_the_incident_closes_a_while_after_the_last(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    assert notice_return(connection, now + 2 * MINUTE, dark[:3]) == IncidentReport(left=3)
    assert (only(connection)["members"], only(connection)["unwell"]) == (4, 1)
    assert notice_return(connection, now + 4 * MINUTE, dark[3:]) == IncidentReport(left=1)
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


def test_one_that_fails_again_before_it_is_closed_joins_again(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    notice_return(connection, now + MINUTE, dark)

    assert notice_silence(connection, now + 5 * MINUTE, dark[:1]) == IncidentReport(joined=1)
    assert observe(connection, now + 30 * MINUTE) == NOTHING  # it stays open
    assert (only(connection)["members"], only(connection)["unwell"]) == (4, 1)


def every_minute(connection: Connection, since: datetime, until: datetime) -> None:
    while since < until:
        observe(connection, since)
        since += MINUTE


@pytest.mark.parametrize("minutes", [1, 4, 5, 6, 29, 31, 61, 600, 1439])
@pytest.mark.parametrize("still_dark", [0, 2])
def test_a_blackout_after_a_recovery_is_the_next_incident(
    connection: Connection, now: datetime, minutes: int, still_dark: int
) -> None:
    fleet = site(connection, now)
    notice_silence(connection, now, fleet[:10])
    notice_return(connection, now + 5 * MINUTE, fleet[still_dark:10])
    again = now + (5 + minutes) * MINUTE
    for at in sorted({again - MINUTE, min(again - MINUTE, now + 11 * MINUTE)}):
        observe(connection, at)

    report = notice_silence(connection, again, fleet[2:11], heard_before=181)

    first, second = all_of(connection)
    assert (report.opened, first["unwell"], first["again_of"], first["times"]) == (1, 0, None, 1)
    assert first["closed_at"] is not None
    assert (second["again_of"], second["times"]) == (first["id"], 2)
    assert (second["opened_at"], second["began_at"], second["closed_at"]) == (again, again - seconds(181), None)
    assert second["unwell"] == 9 + still_dark
    size = 12 if minutes < 1430 else 11 - still_dark  # nobody heard the others for a day
    assert second["cause"].startswith(f"9 of {size} displays at site Rome went silent within 8 s")


def test_a_second_blackout_that_is_noticed_bit_by_bit_is_the_next_incident(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    """Two displays are too few and join the incident that has waned; with two more they are a crowd."""
    notice_return(connection, now + MINUTE, dark)

    assert notice_silence(connection, now + 4 * MINUTE, dark[:2]) == IncidentReport(joined=2)
    assert notice_silence(connection, now + 5 * MINUTE, dark[2:]).opened == 1

    first, second = all_of(connection)
    assert (first["closed_at"], first["unwell"]) == (now + 5 * MINUTE, 0)
    assert (second["again_of"], second["unwell"], second["began_at"]) == (
        first["id"],
        4,
        now + 4 * MINUTE - seconds(190),
    )
    assert [kind for kind, _ in happened(connection, first["id"])][-1] == "closed"


def test_displays_that_fail_before_most_were_well_join(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    notice_silence(connection, now, fleet[:10])
    notice_return(connection, now + 5 * MINUTE, fleet[:7])  # three of ten are no fifth

    assert notice_silence(connection, now + 10 * MINUTE, fleet[:7]) == IncidentReport(joined=7)
    assert only(connection)["again_of"] is None


def test_the_same_place_a_day_later_is_another_incident(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:4]
    for at in (now, now + timedelta(hours=25)):
        notice_silence(connection, at, fleet)
        notice_return(connection, at + MINUTE, fleet)
        observe(connection, at + 7 * MINUTE)

    assert [row["opened_at"] for row in all_of(connection)] == [now, now + timedelta(hours=25)]
    assert [row["again_of"] for row in all_of(connection)] == [None, None]


def test_a_place_that_loses_the_broker_again_and_again_is_one_incident(connection: Connection, now: datetime) -> None:
    shop = site(connection, now)
    for minute in (0, 5, 25):
        at = now + minute * MINUTE
        lose(connection, at, shop)
        every_minute(connection, at + 3 * MINUTE, at + 5 * MINUTE)

    assert (only(connection)["members"], only(connection)["again_of"]) == (12, None)


def test_a_provider_that_fails_again_is_the_next_incident(connection: Connection, now: datetime) -> None:
    shops = [site(connection, now, f"Shop {number}", 10) for number in range(6)]
    gone = [shop[0] for shop in shops]
    notice_silence(connection, now, gone)
    notice_return(connection, now + 5 * MINUTE, gone)

    notice_silence(connection, now + 8 * MINUTE, gone)  # the first is still open
    first, second = all_of(connection)
    assert (second["kind"], second["again_of"], second["unwell"]) == ("cluster", first["id"], 6)
    notice_return(connection, now + 9 * MINUTE, gone)
    observe(connection, now + 15 * MINUTE)

    notice_silence(connection, now + 90 * MINUTE, gone)
    assert (all_of(connection)[2]["again_of"], all_of(connection)[2]["times"]) == (second["id"], 3)


def test_the_broker_is_blamed_only_if_displays_elsewhere_are_lost_too(connection: Connection, now: datetime) -> None:
    shops = [site(connection, now, f"Shop {number}", 10) for number in range(6)]
    rest = [uuid for shop in shops for uuid in shop[1:]]
    change(connection, now, rest[-25:], "late")
    notice_silence(connection, now, [shop[0] for shop in shops])
    assert only(connection)["cause"].endswith("; they have nothing in common but the time.")

    change(connection, now + MINUTE, rest[-26:], "late")
    notice_silence(connection, now + MINUTE, rest[:1] + rest[9:10])  # 52 others are left
    assert only(connection)["cause"].endswith("or the broker itself is the likely cause.")


def test_a_part_of_a_network_is_named_with_its_shop(connection: Connection, now: datetime) -> None:
    site(connection, now, "Rome", 30)
    notice_silence(connection, now, site(connection, now, "Rome", 6, ip="10.1.2.3"))

    assert "in the subnet 10.1.2.0/24 of Rome went silent" in only(connection)["cause"]


def deaf(connection: Connection, at: datetime) -> IncidentReport:
    """Observe incidents while the canary has been missing for long."""
    connection.execute(sa.update(bridge_status).values(canary_at=at - timedelta(minutes=10)))
    return operations.observe(connection, at)


def test_our_own_silence_is_one_incident_and_judges_no_display(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    go_silent(connection, now, fleet)

    assert deaf(connection, now) == IncidentReport(opened=1, deaf=True)
    assert deaf(connection, now + MINUTE) == IncidentReport(deaf=True)

    incident = only(connection)
    assert (incident["kind"], incident["members"], incident["began_at"]) == ("listening", 0, now - 10 * MINUTE)
    assert incident["cause"].startswith("We do not hear the fleet")
    assert happened(connection, incident["id"]) == [("opened", None)]

    assert notice_return(connection, now + 2 * MINUTE, fleet) == IncidentReport(closed=1)
    assert deaf(connection, now + 5 * MINUTE).opened == 1  # failed again so soon: the same incident
    assert [kind for kind, _ in happened(connection, only(connection)["id"])] == ["opened", "closed", "reopened"]


def test_while_we_are_deaf_nobody_leaves_and_nothing_closes(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    come_back(connection, now + MINUTE, dark)

    assert deaf(connection, now + 20 * MINUTE).left == 0
    assert set(operations.open_incident_of(connection, dark)) == set(dark)


def test_displays_of_which_nothing_is_known_stay_members(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    change(connection, now + MINUTE, dark, "unknown")

    assert observe(connection, now + MINUTE) == NOTHING


def test_a_bridge_that_was_never_started_is_no_incident(connection: Connection, now: datetime) -> None:
    connection.execute(sa.update(bridge_status).values(canary_at=None, connected_since=None))

    assert operations.observe(connection, now) == IncidentReport(deaf=True)
    assert all_of(connection) == []


def test_a_deleted_display_leaves(connection: Connection, now: datetime, dark: list[str]) -> None:
    clients_operations.delete(connection, now, dark[0])

    assert observe(connection, now + MINUTE) == IncidentReport(left=1)


def test_the_next_incident_does_not_count_displays_that_were_deleted(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    notice_silence(connection, now, fleet[:6])
    for uuid in fleet[:2]:
        clients_operations.delete(connection, now, uuid)
    change(connection, now + MINUTE, fleet[2:6], "running")
    observe(connection, now + MINUTE)
    observe(connection, now + 10 * MINUTE)
    assert only(connection)["closed_at"] is not None

    notice_silence(connection, now + 12 * MINUTE, fleet[2:7])

    assert f"5 of {len(fleet) - 2} displays" in all_of(connection)[1]["cause"]


def test_looks_at_the_same_time_open_one_incident(engine: Engine) -> None:
    with engine.begin() as connection:
        at = database_now(connection)
        listen(connection, at)
        connection.execute(sa.update(scheduler_status).values(incidents_at=None))
        fleet = site(connection, at, "Overlap")
        go_silent(connection, at, fleet)

    def look(_number: int) -> IncidentReport:
        with engine.begin() as connection:
            return operations.observe(connection, database_now(connection))

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
        assert operations.observe(connection, at).joined == 12
        assert set(operations.open_incident_of(connection, fleet)) == set(fleet)


def look_and_be_killed(engine: Engine, at: datetime) -> None:
    with engine.begin() as doomed:
        assert operations.observe(doomed, at).joined == 12
        own = doomed.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
        with engine.begin() as other:
            other.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": own})
