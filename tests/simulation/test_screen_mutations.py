"""The judge finds faults with screens: when a test breaks one rule of the service, a history gets a breach."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from shared.clients import screens_rules
from shared.clients import screens_store as screens_of_clients
from shared.clients.reports import health_store
from shared.postgres.query import Query
from shared.recovery import screens_operations, screens_store
from shared.recovery.breakers import operations as breakers
from shared.recovery.evidence import operations as evidence_operations
from shared.recovery.evidence import rules as evidence
from shared.recovery.evidence.rules import RecoveryFacts
from shared.vocabulary import MENDED_BY_A_START, QuietPreset, ScreenHealthStatus
from tests.lab.simulation.ailments import NEVER, Ailment
from tests.lab.simulation.broker import Rule
from tests.lab.simulation.history import History
from tests.simulation.conftest import IS_WHOLE, Scene, kinds, of
from tests.simulation.test_mutations import Mutation

PROVEN: Final = evidence.screen_is_proven


def all_are_black_for_a_moment(history: History) -> None:
    """Each display sends one such report."""
    for display in of(history):
        history.agenda.at(300.0, partial(display.show, "black"))
        history.agenda.at(390.0, partial(display.show, "ok"))


def one_is_black(history: History) -> None:
    history.agenda.at(300.0, partial(of(history)[0].ail, Ailment("black", "restart")))


def a_cable_is_out(history: History) -> None:
    history.agenda.at(300.0, partial(of(history)[0].show, "disconnected"))


def all_show_nothing(history: History) -> None:
    """The cause is their playlist."""
    for display in of(history):
        history.agenda.at(300.0, partial(display.ail, Ailment("black", NEVER)))


def one_is_off_by_plan(history: History) -> None:
    planned = of(history)[0]
    plan = partial(history.operator.make_quiet, QuietPreset.MAINTENANCE, displays=[planned], seconds=1000.0)
    history.agenda.at(280.0, plan)
    history.agenda.at(300.0, partial(planned.show, "off"))


def no_report_comes_after_a_restart(history: History) -> None:
    """The restart mends the screen, and later health reports are lost."""
    mended = of(history)[0]
    lost = Rule(frozenset({"health"}), frozenset({mended.uuid}))
    history.agenda.at(300.0, partial(mended.ail, Ailment("black", "restart")))
    history.agenda.at(592.0, lambda: history.broker.rules.append(lost))


def whatever_was_tried(client: RecoveryFacts, now: datetime) -> bool:
    """Reports from before a restart still count after it."""
    return PROVEN(replace(client, tried_state=None), now)


@contextmanager
def cables_are_mended() -> Iterator[None]:
    """A restart is assumed to mend cables, in the rule and in the tick's candidates."""
    every = (*MENDED_BY_A_START, ScreenHealthStatus.DISCONNECTED)
    with (
        patch.object(evidence, "MENDED_BY_A_START", every),
        patch.object(evidence_operations, "candidates", lambda connection, *_: screens(connection)),
    ):
        yield


@contextmanager
def one_report() -> Iterator[None]:
    """One report counts as a failure."""
    at_once = "CASE WHEN said.screen_health = 'black' THEN said.at END"
    statement = str(health_store.PUT_HEALTH.statement).replace(screens_of_clients.FAILED_AT, at_once)
    with (
        patch.object(health_store, "PUT_HEALTH", Query(statement, str)),
        patch.object(screens_rules, "in_a_row", lambda _seen: True),
    ):
        yield


def screens(connection: Any) -> list[str]:
    """All clients with a failing screen."""
    found = connection.exec_driver_sql("SELECT uuid FROM clients WHERE screen_failed_at >= screen_health_since")
    return [row[0] for row in found]


def judge_regardless(connection: Any, now: Any) -> int:
    """Judge screens that are off as if no plan allowed that."""
    return screens_store.judge_off(connection, now, [])


SCREENS: Final = {
    "no screen is acted on": Mutation(
        3, 1200.0, one_is_black, lambda: patch.object(evidence, "screen_is_proven", lambda *_: False), "late"
    ),
    "one report is enough": Mutation(4, 900.0, all_are_black_for_a_moment, one_report, "forbidden action"),
    "a restart mends a cable": Mutation(3, 1200.0, a_cable_is_out, cables_are_mended, "needless action"),
    "screens that fail together are acted on": Mutation(
        12,
        1200.0,
        all_show_nothing,
        lambda: patch.object(breakers, "_failing_screens", lambda *_: {}),
        "forbidden action",
    ),
    "off by plan is a failure": Mutation(
        3, 900.0, one_is_off_by_plan, lambda: patch.object(screens_operations, "judge_off", judge_regardless), "planned"
    ),
    "a report of before a restart counts after it": Mutation(
        3,
        800.0,
        no_report_comes_after_a_restart,
        lambda: patch.object(evidence, "screen_is_proven", whatever_was_tried),
        "forbidden action",
        (("COMMAND_LOCKOUT_SECONDS", "60"),),
    ),
}
SHARE: Final = ("off by plan is a failure",)


@pytest.mark.parametrize("name", SCREENS if IS_WHOLE else SHARE)
def test_a_broken_rule_of_screens_is_seen(scene: Scene, name: str) -> None:
    mutation = SCREENS[name]
    broken = scene(mutation.displays, until=mutation.until, **dict(mutation.settings))
    mutation.tell(broken)

    with mutation.without():
        outcome = broken.run(mutation.until, lambda: mutation.breach in {one.kind for one in broken.judge.breaches})

    assert mutation.breach in kinds(outcome)
