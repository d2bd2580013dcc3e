"""The judge finds faults: when a test breaks one rule of the service, a history without breaches gets one.

test_whole.py shows that each scene has no breach while the rule is intact. `make test` breaks some of the rules.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final
from unittest.mock import patch
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from shared.commands import operations as commands
from shared.commands import rules as command_rules
from shared.commands.outbox import operations as outbox
from shared.commands.outbox import store as outbox_store
from shared.leadership import store as leadership_store
from shared.quiet import hours_rules
from shared.quiet import rules as quiet_rules
from shared.recovery import operations as recovery
from shared.recovery import rules as recovery_rules
from shared.recovery import store as recovery_store
from shared.recovery.breakers import rules as breakers
from shared.recovery.breakers import store as breaker_store
from shared.recovery.evidence import operations as evidence
from shared.vocabulary import QuietPreset, Weekday
from tests.lab.simulation.agenda import BEGINNING
from tests.lab.simulation.ailments import NEVER, Ailment, Nature
from tests.lab.simulation.broker import Rule
from tests.lab.simulation.conduct import NO_HEALTH
from tests.lab.simulation.faults import lasting
from tests.lab.simulation.history import History
from tests.simulation.conftest import IS_WHOLE, Scene, kinds, of

Broken = AbstractContextManager[Any]
RELEASE: Final = breaker_store.release
EVERYTHING: Final = frozenset({"heartbeat", "health", "logs", "acks", "service_failed", "presence"})


@dataclass(frozen=True)
class Mutation:
    """A scene, the rule that keeps it from a breach, and the breach without that rule."""

    displays: int
    until: float
    tell: Callable[[History], None]
    without: Callable[[], Broken]
    breach: str
    settings: tuple[tuple[str, str], ...] = ()


def all_fall_silent_because_of_us(history: History) -> None:
    """All messages of displays are lost in the service between two ticks; all displays are well and connected."""
    history.agenda.at(445.0, lambda: setattr(history.broker, "muted", EVERYTHING))


def all_fall_silent_in_the_middle_of_a_tick(history: History) -> None:
    """The same, but the first displays are stale before the tick at 590 s, too few for a breaker."""
    history.agenda.at(436.0, lambda: setattr(history.broker, "muted", EVERYTHING))


def one_and_then_all_fall_silent(history: History) -> None:
    """The messages of one display are lost in the service, and a minute and a half later those of all."""
    first = Rule(EVERYTHING, frozenset({of(history)[0].uuid}))
    history.agenda.at(350.0, lambda: history.broker.rules.append(first))
    history.agenda.at(440.5, lambda: setattr(history.broker, "muted", EVERYTHING))


def the_bridge_was_away(history: History) -> None:
    """Displays that send only heartbeats, every two minutes, are not heard for a while after the bridge is back."""
    for display in of(history):
        display.nature, display.conduct = Nature(interval=120), NO_HEALTH
    bridge = history.bridges[0]
    history.agenda.at(400.0, partial(lasting, history, 608.0, bridge.kill, bridge.start))


def everybody_crashes(history: History) -> None:
    for display in of(history):
        history.agenda.at(300.0, partial(display.ail, Ailment("crashed", "restart")))


def one_is_out_of_reach_and_comes_back(history: History) -> None:
    """The broker was killed meanwhile, so it publishes no will: the display's reboot is answered with 0x10."""
    lost = of(history)[0]
    history.agenda.at(400.0, lost.lose_network)
    history.agenda.at(405.0, history.broker.kill)
    history.agenda.at(410.0, history.broker.start)
    history.agenda.at(760.0, lost.find_network)


def one_reboots_while_its_reboot_is_on_the_way(history: History) -> None:
    ill = of(history)[0]
    history.agenda.at(400.0, lambda: ill.ail(Ailment("frozen", "reboot")))
    history.agenda.at(649.0, ill.cut_power)
    history.agenda.at(660.0, ill.power_on)


def one_crashes_for_ever(history: History) -> None:
    history.agenda.at(300.0, lambda: of(history)[0].ail(Ailment("crashed", NEVER)))


def one_crashes_while_the_canary_is_dead(history: History) -> None:
    mute, unmute = (partial(setattr, history.broker, "muted", kinds) for kinds in (frozenset({"canary"}), frozenset()))
    history.agenda.at(300.0, partial(lasting, history, 1000.0, mute, unmute))
    history.agenda.at(500.0, lambda: of(history)[0].ail(Ailment("crashed", "restart")))


def one_never_answers(history: History) -> None:
    history.agenda.at(300.0, lambda: of(history)[0].ail(Ailment("deaf", NEVER)))


def people_want_it_left_alone(history: History) -> None:
    held, excluded, worked_on = of(history)
    history.agenda.at(250.0, lambda: history.operator.hold(held, None))
    history.agenda.at(251.0, lambda: history.operator.make_quiet(QuietPreset.LEAVE_OUT, displays=[excluded]))
    work = partial(history.operator.make_quiet, QuietPreset.MAINTENANCE, displays=[worked_on], seconds=600.0)
    history.agenda.at(252.0, work)
    everybody_crashes(history)


def a_shop_is_closed(history: History) -> None:
    """Its opening hours begin in two hours; its displays crash and fall silent meanwhile."""
    here = history.clocks.database().astimezone(ZoneInfo("Europe/Rome"))
    begins, ends = (f"{here + timedelta(hours=hours):%H:%M}" for hours in (2, 3))
    spans = (hours_rules.span(tuple(Weekday), begins, ends, None),)
    closes = partial(history.operator.make_quiet, QuietPreset.OPENING_HOURS, site="Berlin", spans=spans)
    history.agenda.at(250.0, closes)
    everybody_crashes(history)


def half_freeze_and_an_operator_vouches_for_it(history: History) -> None:
    for display in of(history)[::2]:
        history.agenda.at(300.0, partial(display.ail, Ailment("frozen", "reboot")))
    history.agenda.at(700.0, lambda: history.operator.release(None))


@contextmanager
def no_listening_time() -> Iterator[None]:
    """Recovery assumes that the bridge has always listened."""
    known = leadership_store.bridge_status

    def always(connection: Any) -> Any:
        status = known(connection)
        return replace(status, connected_since=status.connected_since and BEGINNING - timedelta(days=2))

    with patch.object(leadership_store, "bridge_status", always):
        yield


@contextmanager
def no_preconditions() -> Iterator[None]:
    """Commands have no precondition on the boot."""

    def bare(due: command_rules.DueCommand) -> bytes:
        return command_rules.payload(replace(due, if_boot_id=None, if_app_instance=None))

    with patch.object(outbox, "payload", bare):
        yield


def release_and_forget(connection: Any, *who: Any) -> Any:
    """Releasing a breaker does not exclude the old silence, which opens it again."""
    closed = RELEASE(connection, *who)
    connection.execute(sa.text("UPDATE recovery_breakers SET released_at = NULL"))
    return closed


@contextmanager
def nothing_is_looked_at_first() -> Iterator[None]:
    """Recovery checks neither which displays fell silent together, nor how many are about to."""
    with patch.object(recovery_rules, "LOOK_AROUND", 0), patch.object(breakers, "why_wait", lambda _late, _seen: None):
        yield


SHORT_LOCKOUT: Final = (("COMMAND_LOCKOUT_SECONDS", "120"),)
MUTATIONS: Final = {
    "the breaker never opens": Mutation(
        12,
        1500.0,
        all_fall_silent_because_of_us,
        lambda: patch.object(breakers, "opens", lambda _silence: False),
        "needless reboot",
    ),
    "the first of a wave are acted on at once": Mutation(
        12,
        800.0,
        all_fall_silent_in_the_middle_of_a_tick,
        nothing_is_looked_at_first,
        "needless reboot",
    ),
    "the first one before a wave is acted on": Mutation(
        12,
        800.0,
        one_and_then_all_fall_silent,
        lambda: patch.object(breakers, "why_wait", lambda _late, _seen: None),
        "needless reboot",
    ),
    "silence counts while nobody listened": Mutation(
        4, 1150.0, the_bridge_was_away, no_listening_time, "needless reboot"
    ),
    "any number of commands may be open": Mutation(
        14, 500.0, everybody_crashes, lambda: patch.object(recovery_rules, "cap", lambda _seen: 1000), "cap"
    ),
    "a command that nobody heard waits for its display": Mutation(
        4,
        900.0,
        one_is_out_of_reach_and_comes_back,
        lambda: patch.object(outbox_store, "cancel_unheard_recovery", lambda *_: ()),
        "needless reboot",
    ),
    "a reboot is carried out whatever boot it was meant for": Mutation(
        4, 900.0, one_reboots_while_its_reboot_is_on_the_way, no_preconditions, "needless reboot"
    ),
    "the ladder has no end": Mutation(
        3,
        1100.0,
        one_crashes_for_ever,
        lambda: patch.object(recovery_store, "step_up", lambda *_: None),
        "fifth action",
        SHORT_LOCKOUT,
    ),
    "a dead canary blocks nothing": Mutation(
        3,
        650.0,
        one_crashes_while_the_canary_is_dead,
        lambda: patch.object(evidence, "bridge_is_silent", lambda *_: False),
        "forbidden action",
    ),
    "nobody heeds what people said": Mutation(
        3,
        500.0,
        people_want_it_left_alone,
        lambda: patch.object(recovery_rules, "why_held", lambda *_: None),
        "forbidden action",
    ),
    "nobody knows when a shop is closed": Mutation(
        3,
        500.0,
        a_shop_is_closed,
        lambda: patch.object(quiet_rules, "occurrence_at", lambda *_: None),
        "forbidden action",
    ),
    "a release is forgotten": Mutation(
        12,
        800.0,
        half_freeze_and_an_operator_vouches_for_it,
        lambda: patch.object(breaker_store, "release", release_and_forget),
        "late",
    ),
    "recovery does nothing": Mutation(
        3,
        500.0,
        one_crashes_for_ever,
        lambda: patch.object(recovery, "recover", lambda *_: recovery.RecoveryReport()),
        "late",
    ),
    "commands never expire": Mutation(
        3,
        850.0,
        one_never_answers,
        lambda: patch.object(commands, "expire", lambda *_: commands.ExpiryReport(0, 0)),
        "stuck",
    ),
}


SHARE: Final = (
    "the breaker never opens",
    "silence counts while nobody listened",
    "any number of commands may be open",
    "nobody heeds what people said",
)


@pytest.mark.parametrize("name", MUTATIONS if IS_WHOLE else SHARE)
def test_a_broken_rule_is_seen(scene: Scene, name: str) -> None:
    mutation = MUTATIONS[name]
    settings = dict(mutation.settings)
    broken = scene(mutation.displays, until=mutation.until, **settings)
    mutation.tell(broken)

    with mutation.without():
        outcome = broken.run(mutation.until, lambda: mutation.breach in {one.kind for one in broken.judge.breaches})

    assert mutation.breach in kinds(outcome)
