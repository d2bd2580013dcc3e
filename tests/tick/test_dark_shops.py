"""Up to three hundred displays in twelve shops for an hour and more: all messages to a webhook are true."""

import os
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import asdict
from sqlalchemy import Connection

from extensions.notifications.channels.rules import DEFAULT_EVENTS
from shared.incidents import timeline_store
from shared.incidents.timeline_store import IncidentFilter
from shared.postgres.door import database_now
from shared.tables import client_state_changes
from shared.words.reader import english
from tests.stores.notifications_world import channel, messages, told
from tests.tick.fleet_run import Display, FleetRun

SHOPS: dict[str | None, int] = {"Shop Basel": 25, **{f"Shop {n:02}": 25 for n in range(11)}}
HALF: dict[str | None, int] = {"Shop Basel": 25, **{f"Shop {n:02}": 10 for n in range(11)}}
MINUTE = 60.0
IS_WHOLE = os.environ.get("SIMULATION") == "whole"
SEEDS = range(4 if IS_WHOLE else 1)
"""`make campaign ONLY=simulation` runs all."""
UNSTEADY = "have an unsteady connection"


def lived(
    connection: Connection, seed: int, delay: float = 120, shops: dict[str | None, int] | None = None
) -> FleetRun:
    """A fleet that has run for two minutes, with a channel for all messages."""
    run = FleetRun(connection, database_now(connection), shops or HALF, seed)
    channel(connection, run.start, "Webhook", delay=timedelta(seconds=delay), events=DEFAULT_EVENTS)
    run.run(2 * MINUTE)
    return run


def unsteady(run: FleetRun) -> list[Display]:
    """Let one of 25 displays of any site lose the connection every 20 to 90 s from now on."""
    chosen = run.rng.sample(run.displays, len(run.displays) // 25)
    for display in chosen:
        display.at(run.time + run.rng.uniform(0, 90), Display.flap)
    return chosen


def incidents(connection: Connection) -> list[dict[str, Any]]:
    found = reversed(timeline_store.page(connection, IncidentFilter(), 100, None))
    return [{**asdict(row), "cause": english(row.cause)} for row in found]


def kinds(connection: Connection) -> list[tuple[str, str, int]]:
    """(kind, place, members) of every incident, the oldest first."""
    return [(row["kind"], row["site"] or row["subnet"] or "", row["members"]) for row in incidents(connection)]


def titles(connection: Connection, phase: str) -> list[str]:
    return [title for of, title in told(connection) if of == phase]


@pytest.mark.parametrize("seed", SEEDS)
def test_one_dark_shop_among_unsteady_displays_is_one_message_and_none_is_false(
    connection: Connection, seed: int
) -> None:
    run = lived(connection, seed, shops=SHOPS if IS_WHOLE else HALF)
    unsteady(run)
    run.run(12 * MINUTE)
    run.go_dark("Shop Basel", run.time + 10, spread=40)
    run.run(30 * MINUTE)
    run.come_back("Shop Basel", run.time)
    run.run(40 * MINUTE)

    assert kinds(connection) == [("site", "Shop Basel", 25)]
    shop = "25 displays at Shop Basel failed together"
    assert [title for title in titles(connection, "opened") if UNSTEADY not in title] == [shop]
    assert titles(connection, "escalated") == []
    assert titles(connection, "recovered") == [f"Over: {shop}"]
    [dark] = [message for message in messages(connection) if message["title"] == shop]
    assert dark["facts"]["cause"].startswith("25 of 25 displays at site Shop Basel went silent within")
    assert len([title for title in titles(connection, "opened") if UNSTEADY in title]) == 1


def test_told_at_once_the_shop_is_named_from_the_first_message_on(connection: Connection) -> None:
    """Without a delay the first tick may see half of the shop; the rest joins the same incident."""
    run = lived(connection, seed=7, delay=0)
    unsteady(run)
    run.run(6 * MINUTE)
    run.go_dark("Shop Basel", run.time + 35, spread=45)
    run.run(20 * MINUTE)

    assert kinds(connection) == [("site", "Shop Basel", 25)]
    said = [title for _, title in told(connection)]
    assert [title for title in said if "Shop Basel failed together" not in title and UNSTEADY not in title] == []
    assert len([title for title in titles(connection, "opened") if "Shop Basel" in title]) == 1


def test_two_shops_that_are_dark_at_once_are_two_incidents(connection: Connection) -> None:
    run = lived(connection, seed=11)
    unsteady(run)
    run.run(5 * MINUTE)
    for shop in ("Shop Basel", "Shop 03"):
        run.go_dark(shop, run.time + 20, spread=35)
    run.run(14 * MINUTE)

    assert sorted(kinds(connection)) == [("site", "Shop 03", 10), ("site", "Shop Basel", 25)]


def test_a_shop_that_goes_dark_while_a_provider_fails_is_an_incident_of_its_own(connection: Connection) -> None:
    """Within the same half minute two or three displays of each other shop lose their provider."""
    run = lived(connection, seed=13)
    elsewhere = [display for site in SHOPS if site != "Shop Basel" for display in run.of(site)[:2]]
    for display in elsewhere:
        display.at(run.time + run.rng.uniform(0, 30), Display.lose)
    run.go_dark("Shop Basel", run.time + 15, spread=40)
    run.run(10 * MINUTE)

    assert sorted(kinds(connection)) == [("cluster", "", 22), ("site", "Shop Basel", 25)]
    assert (
        "22 displays at 11 sites went silent" in incidents(connection)[0]["cause"] + incidents(connection)[1]["cause"]
    )


def test_a_broker_that_restarts_is_one_incident_whose_displays_are_back(connection: Connection) -> None:
    run = lived(connection, seed=17)
    unsteady(run)
    run.run(8 * MINUTE)
    run.restart_broker(run.time + 20)
    run.run(12 * MINUTE)

    [(kind, _, members)] = kinds(connection)
    assert (kind, incidents(connection)[0]["unwell"]) == ("cluster", 0)
    assert 125 <= members <= 135  # unsteady displays prove nothing about the broker
    assert "lost the broker and came back" in incidents(connection)[0]["cause"]
    run.run(20 * MINUTE)
    assert incidents(connection)[0]["closed_at"] is not None


def test_unsteady_displays_in_the_dark_shop_are_part_of_its_incident(connection: Connection) -> None:
    run = lived(connection, seed=19)
    for display in run.of("Shop Basel")[:8]:
        display.at(run.time + run.rng.uniform(0, 60), Display.flap)
    run.run(9 * MINUTE)
    run.go_dark("Shop Basel", run.time, spread=30)
    run.run(16 * MINUTE)

    assert kinds(connection) == [("site", "Shop Basel", 25)]


def test_shops_of_three_displays_and_displays_without_a_site(connection: Connection) -> None:
    shops: dict[str | None, int] = {None: 20, **{f"Kiosk {n:02}": 3 for n in range(30)}}
    run = lived(connection, seed=23, shops=shops)
    for display in run.of(None)[:6]:
        display.at(run.time + run.rng.uniform(0, 60), Display.flap)
    run.run(6 * MINUTE)
    run.go_dark("Kiosk 07", run.time, spread=30)
    run.run(14 * MINUTE)

    assert kinds(connection) == [("site", "Kiosk 07", 3)]
    assert [title for title in titles(connection, "opened") if UNSTEADY not in title] == [
        "3 displays at Kiosk 07 failed together"
    ]


def test_a_silence_is_as_long_as_it_was(connection: Connection) -> None:
    """A silence counts from the last heartbeat, not from its detection; a short one is not shown."""
    run = lived(connection, seed=29, shops={"Bar": 2})
    long, short = run.displays
    lost, back = run.time + 60, run.time + 60 + 582
    for moment, display in ((back, long), (lost + 120, short)):
        display.at(lost, Display.lose)
        display.at(moment, Display.come_back)
    run.run(15 * MINUTE)

    c = client_state_changes.c
    of_long = connection.execute(sa.select(c.to_status, c.at).where(c.client_uuid == long.uuid).order_by(c.at, c.id))
    [_, (late, late_at), (stale, stale_at), (again, again_at)] = of_long.all()
    assert (late, stale, again) == ("late", "stale", "running")
    assert late_at == stale_at
    assert timedelta(seconds=582) <= again_at - stale_at <= timedelta(seconds=582 + 30 + 15)  # a heartbeat and a batch
    of_short = connection.execute(sa.select(c.to_status).where(c.client_uuid == short.uuid).order_by(c.id))
    assert "stale" not in of_short.scalars().all()
