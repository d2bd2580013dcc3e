"""Which failures become one incident on real Postgres, by place, time and kind, and which none."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients import operations as clients_operations
from shared.incidents import operations
from shared.incidents.operations import IncidentReport
from tests.stores.commands_world import add_client, seconds
from tests.stores.incidents_world import (
    MINUTE,
    NOTHING,
    all_of,
    go_silent,
    happened,
    listen,
    lose,
    notice_silence,
    observe,
    only,
    site,
)

pytestmark = pytest.mark.usefixtures("listening")
PARALLEL = ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size")
"""Settings that, at 0, let Postgres read the smallest table in parallel, as it reads a large fleet."""


@pytest.mark.parametrize("parallel", [False, True])
def test_displays_without_a_site_are_grouped_by_subnet_v4_and_v6(
    connection: Connection, now: datetime, parallel: bool
) -> None:
    if parallel:
        for setting in PARALLEL:
            connection.execute(sa.text(f"SET LOCAL {setting} = 0"))
    four = [add_client(connection, now, status="running", ip=f"10.1.2.{n}") for n in range(10, 15)]
    six = [add_client(connection, now, status="running", ip=f"2001:db8:0:1::{n}") for n in range(1, 4)]
    bad = [add_client(connection, now, status="running", ip=text) for text in ("", "unknown", "10.1.2.300", "::zz")]
    go_silent(connection, now, four[:4])
    go_silent(connection, now, six, 900)
    go_silent(connection, now, bad)

    assert observe(connection, now).opened == 2

    found = {row["subnet"]: row for row in all_of(connection)}
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

    assert notice_silence(connection, now + MINUTE, lyon, 250) == IncidentReport(opened=1, joined=6, merged=2)

    first, second, whole = all_of(connection)
    assert (first["merged_into"], second["merged_into"]) == (whole["id"], whole["id"])
    assert (first["members"], first["closed_at"], whole["members"], whole["unwell"]) == (0, now + MINUTE, 18, 18)
    assert [kind for kind, _ in happened(connection, whole["id"])].count("merged") == 2
    assert happened(connection, first["id"])[-1] == ("merged", None)
    assert set(operations.open_incident_of(connection, rome)) == set(rome)


def test_failed_services_are_an_incident_until_they_are_acknowledged(connection: Connection, now: datetime) -> None:
    facts: dict[str, Any] = {"service_failed_at": now - seconds(5), "service_failed_unit": "sync.service"}
    fleet = site(connection, now, count=4, **facts)
    assert observe(connection, now).opened == 1
    assert "reported that sync.service failed" in only(connection)["cause"]

    assert observe(connection, now + MINUTE) == NOTHING
    clients_operations.clear_service_failed(connection, now + MINUTE, fleet[0], "user:anna", None)
    assert observe(connection, now + MINUTE).left == 1


def test_a_short_loss_of_the_broker_is_an_incident_whose_members_are_back(
    connection: Connection, now: datetime
) -> None:
    fleet = site(connection, now, count=6)
    lose(connection, now - seconds(130), fleet)

    assert observe(connection, now) == IncidentReport(opened=1, joined=6, left=6)
    assert (only(connection)["members"], only(connection)["unwell"]) == (6, 0)
    assert observe(connection, now + MINUTE) == NOTHING
    assert observe(connection, now + 6 * MINUTE) == IncidentReport(closed=1)
    assert "lost the broker and came back" in only(connection)["cause"]
    assert operations.open_incident_of(connection, fleet) == {}


def test_a_lost_connection_counts_once_the_display_has_kept_the_next_one(connection: Connection, now: datetime) -> None:
    lose(connection, now, site(connection, now, count=6))

    joined = [observe(connection, now + seconds(after)).joined for after in (0, 60, 119, 120, 180, 240)]

    assert joined == [0, 0, 0, 6, 0, 0]


def test_a_dark_shop_takes_its_displays_out_of_a_cluster(connection: Connection, now: datetime) -> None:
    """Six displays of the shop and three others are noticed first; they have no place in common yet."""
    shop, others = site(connection, now, "Basel", 25), [site(connection, now, name, 3)[0] for name in "ABCDEF"]
    assert notice_silence(connection, now, [*shop[:5], *others]).opened == 1
    assert only(connection)["kind"] == "cluster"

    notice_silence(connection, now + MINUTE, shop[5:], 230)

    cluster, place = all_of(connection)
    assert (place["kind"], place["site"], place["members"]) == ("site", "Basel", 25)
    assert place["cause"].startswith("25 of 25 displays at site Basel went silent")
    assert (cluster["members"], cluster["closed_at"]) == (6, None)
    assert cluster["cause"].startswith("6 displays at 6 sites went silent")


def test_a_cluster_of_which_too_few_are_left_goes_on_as_the_shop_s_incident(
    connection: Connection, now: datetime
) -> None:
    shop, others = site(connection, now, "Basel", 25), [site(connection, now, name, 3)[0] for name in "ABCD"]
    notice_silence(connection, now, [*shop[:4], *others])

    notice_silence(connection, now + MINUTE, shop[4:], 230)

    cluster, place = all_of(connection)
    assert (cluster["merged_into"], cluster["members"], cluster["closed_at"]) == (place["id"], 0, now + MINUTE)
    assert place["members"] == 25
    assert set(operations.open_incident_of(connection, [*shop, *others])) == set(shop)


def test_a_cluster_names_the_place_that_holds_half_of_it(connection: Connection, now: datetime) -> None:
    """Seven of 25 are too few for an incident of the shop, and no other display of it fails in the next minute."""
    shop, others = site(connection, now, "Basel", 25), [site(connection, now, name, 3)[0] for name in "AB"]
    assert notice_silence(connection, now, [*shop[:7], *others]) == NOTHING

    assert observe(connection, now + MINUTE).opened == 1
    cause = only(connection)["cause"]
    assert cause == (
        "9 displays at 3 sites went silent within 8 s, among them 7 of 25 of Basel;"
        " the network or power of the site is the likely cause."
    )


def lost_the_broker_sometime_in_an_hour(connection: Connection, now: datetime) -> None:
    """The bridge was away for that hour."""
    lose(connection, now - seconds(130), site(connection, now, count=6), known_for=3600)


def drop_all_the_time(connection: Connection, now: datetime) -> None:
    for name in "ABCDEF":
        display = site(connection, now, name, 1)
        for age in (2000, 1000, 130):
            lose(connection, now - seconds(age), display)


def died_each_on_another_day(connection: Connection, now: datetime) -> None:
    """All are shown as stale again when the bridge comes back."""
    listen(connection, now, since=now - 4 * MINUTE)
    for number, uuid in enumerate(site(connection, now, count=8)[:4]):
        go_silent(connection, now, [uuid], 86_400 * 0.1 * (number + 1))


def died_together_months_ago(connection: Connection, now: datetime) -> None:
    go_silent(connection, now, site(connection, now), 90 * 86_400)


NO_NEWS = (lost_the_broker_sometime_in_an_hour, drop_all_the_time, died_each_on_another_day, died_together_months_ago)


@pytest.mark.parametrize("happened", NO_NEWS)
def test_what_says_nothing_of_the_present_moment_is_no_incident(
    connection: Connection, now: datetime, happened: Callable[[Connection, datetime], None]
) -> None:
    happened(connection, now)

    assert observe(connection, now) == NOTHING
