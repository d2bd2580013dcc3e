"""A display that speaks seldom while it is well is missed as soon as one that always speaks."""

import random
from functools import partial
from typing import Any

import sqlalchemy as sa

from deploy.displays.client import contract
from shared.clients.intervals_rules import CALM
from tests.lab.simulation.agenda import BEGINNING
from tests.lab.simulation.ailments import NEVER, Ailment
from tests.lab.simulation.display import Display
from tests.lab.simulation.history import Databases
from tests.simulation.conftest import Scene, of

CALM_FROM, ILL_UNTIL, END = 900.0, 1500.0, 2400.0
SWEEP = 80.0  # a simulated bridge sweeps once a minute, between two turns
INTERVALS = sa.text("SELECT client_uuid, interval_seconds FROM client_heartbeats")
OFFLINE = sa.text("SELECT uuid, presence_at FROM clients WHERE presence = 'offline'")
FIRST = sa.text(
    """
    SELECT client_uuid, min(coalesce(noticed_at, at)) FROM client_state_changes
    WHERE to_status = :status GROUP BY client_uuid
    """
)


def test_lost_power_and_crashes_are_known_in_time_although_heartbeats_are_seldom(
    scene: Scene, databases: Databases
) -> None:
    history = scene(40, until=END)
    dark, crashing = of(history)[:20], of(history)[20:]
    dice = random.Random(CALM.seconds)
    ill_at = {display.uuid: dice.uniform(CALM_FROM, ILL_UNTIL) for display in of(history)}
    intervals: dict[str, Any] = {}
    history.agenda.at(CALM_FROM, lambda: intervals.update(by_client(databases, INTERVALS)))
    for display in dark:
        history.agenda.at(ill_at[display.uuid], display.cut_power)
    for display in crashing:
        history.agenda.at(ill_at[display.uuid], partial(display.ail, Ailment("crashed", NEVER)))

    assert history.run(END).breaches == []

    assert intervals == {one.uuid: CALM.seconds if takes_wishes(one) else 30 for one in of(history)}
    assert longest(by_client(databases, OFFLINE), dark, ill_at) <= 90
    assert longest(by_client(databases, FIRST, status="stale"), dark, ill_at) <= 180 + SWEEP
    assert longest(by_client(databases, FIRST, status="crashed"), crashing, ill_at) <= 60


def takes_wishes(display: Display) -> bool:
    return contract.HEARTBEAT_INTERVAL in display.nature.capabilities


def by_client(databases: Databases, question: sa.TextClause, **values: str) -> dict[str, Any]:
    with databases.judge.connect() as connection:
        return {row[0]: row[1] for row in connection.execute(question, values)}


def longest(known: dict[str, Any], displays: list[Display], ill_at: dict[str, float]) -> float:
    """The longest time in seconds until the service knew of the fault of one of these displays."""
    waits = ((known[one.uuid] - BEGINNING).total_seconds() - ill_at[one.uuid] for one in displays)
    return float(max(waits))
