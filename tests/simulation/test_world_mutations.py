"""The judge finds faults in the wide world: each test breaks a rule of the service, and runs the rule's scene.

Rules are given by their full names, so a renamed rule fails here. test_whole.py shows that each scene has no breach
while its rule is intact.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from unittest.mock import patch

import pytest

from bridge import messages
from bridge.leader import DatabaseAway, Leader
from shared.client_logs import rules as log_rules
from shared.leadership.store import LEADER_LOCK
from shared.postgres.query import Query
from shared.recovery.breakers import store as breakers_store
from shared.recovery.breakers.store import SilentAtSite
from tests.lab.simulation.ages import leap
from tests.lab.simulation.ailments import Ailment, Nature
from tests.lab.simulation.broker import Rule
from tests.lab.simulation.conduct import REJECTS, TOO_LARGE
from tests.lab.simulation.display import Display
from tests.lab.simulation.faults import lasting
from tests.lab.simulation.history import History
from tests.lab.simulation.outages import HEARTBEATS, drop
from tests.lab.simulation.service import PUBLISHED_MAX, ServiceConnection
from tests.simulation.conftest import IS_WHOLE, Scene, kinds, of
from tests.simulation.test_mutations import Mutation, everybody_crashes

HOUR: Final = 3600.0
FAR_AWAY: Final = datetime(2100, 1, 1, tzinfo=UTC)
Broken = Callable[[], Any]


def without(*rules: tuple[str, Any]) -> Broken:
    """Replace each of these rules, given by full name."""

    @contextmanager
    def broken() -> Iterator[None]:
        with ExitStack() as patched:
            for name, instead in rules:
                patched.enter_context(patch(name, instead))
            yield

    return broken


# --- scenes ---


def one_is_updated_and_its_heartbeats_are_too_large(history: History) -> None:
    history.agenda.at(300.0, partial(setattr, of(history)[0], "conduct", TOO_LARGE))


def the_heartbeats_of_three_are_dropped(history: History) -> None:
    some = frozenset(display.uuid for display in of(history)[:3])
    history.agenda.at(300.0, partial(drop, history, Rule(HEARTBEATS, some), 900.0))


def nothing_of_the_fleet_comes_through_for_days(history: History) -> None:
    history.agenda.at(300.0, partial(drop, history, Rule(None), 2500.0, patient=True))
    for moment in (800.0, 1000.0, 1200.0):
        history.agenda.at(moment, partial(leap, history, 9 * HOUR))


def all_beat_seldom(history: History) -> None:
    """Every ten minutes, and never two at the same time."""
    displays = of(history)
    for number, display in enumerate(displays):
        display.nature = Nature(interval=600)
        history.agenda.at(60.0, display.cut_power)
        history.agenda.at(70.0 + 600.0 * number / len(displays), display.power_on)


def some_that_beat_seldom_are_dropped(history: History) -> None:
    """They become stale one after another, within ten minutes."""
    all_beat_seldom(history)
    some = frozenset(display.uuid for display in of(history)[::3])
    history.agenda.at(700.0, partial(drop, history, Rule(None, some), 4000.0))


def all_that_beat_seldom_are_dropped_for_an_hour(history: History) -> None:
    """They come back one after another, within ten minutes."""
    all_beat_seldom(history)
    history.agenda.at(700.0, partial(drop, history, Rule(None), 3600.0))


def one_that_people_held_for_a_day_is_silent(history: History) -> None:
    silent = of(history)[0]
    history.agenda.at(200.0, lambda: history.operator.hold(silent, None))
    history.agenda.at(300.0, partial(silent.ail, Ailment("frozen", "reboot")))
    history.agenda.at(900.0, partial(leap, history, 25 * HOUR))
    history.agenda.at(1100.0, lambda: history.operator.resume(silent))


def one_rejects_whatever_it_is_told(history: History) -> None:
    ill = of(history)[0]
    history.agenda.at(200.0, partial(setattr, ill, "conduct", REJECTS))
    history.agenda.at(300.0, partial(ill.ail, Ailment("crashed", "restart")))


def one_loses_the_count_of_its_boots(history: History) -> None:
    display = of(history)[0]
    history.keep_logs()
    for moment in range(200, 1500, 30):
        history.agenda.at(moment, display.log)
    history.agenda.at(700.0, lambda: display.put_disk(display.at_boot))


def one_gets_its_old_disk_back(history: History) -> None:
    display = of(history)[0]

    def change() -> None:
        old = display.reimage()
        history.agenda.after(300.0, lambda: display.put_disk(old))

    history.agenda.at(300.0, change)


def two_share_a_login(history: History) -> None:
    """Two displays share a login for a while; then both players crash."""
    display = of(history)[0]
    twin = history.add_twin(display)
    history.agenda.at(300.0, twin.power_on)
    for one in (display, twin):
        history.agenda.at(720.0, partial(one.ail, Ailment("crashed", "restart")))


def many_of_a_large_fleet_crash(history: History) -> None:
    """Twenty of fifteen hundred displays may be restarted at once, and ten of a thousand."""
    history.add_chorus(1_500)
    everybody_crashes(history)


def clocks_are_hours_behind(history: History) -> None:
    display = of(history)[0]
    display.nature = Nature(clock_error=timedelta(hours=-5))


def a_copy_of_the_database_is_put_back(history: History) -> None:
    """A player crashed and recovered; the copy is from the time between.

    It is put back after a tick: one that runs while the bridge is away would write, and the bridge would look again.
    """
    ill = of(history)[0]
    copies, judge = history.databases.copies, history.judge
    history.agenda.at(395.0, partial(ill.ail, Ailment("crashed", "restart", 12.0)))
    for moment, happens in (
        (402.0, copies.make),
        (402.0, judge.keeps),
        (472.0, copies.put_back),
        (472.0, judge.forgets),
    ):
        history.agenda.at(moment, happens)


def a_ghost_holds_the_lead(history: History) -> None:
    copies = history.databases.copies
    lasting_for = partial(lasting, history, 40.0, partial(copies.haunt, LEADER_LOCK), copies.exorcise)
    history.agenda.at(300.0, lasting_for)


def many_commands_go_through_a_strict_broker(history: History) -> None:
    """The tick that issues them finds no broker, so all wait for the bridge."""
    history.broker.receive_maximum = 10
    history.agenda.at(305.0, lambda: history.operator.send_to_many(of(history), "restart_app", in_waves=False))
    history.agenda.at(346.0, partial(lasting, history, 9.0, history.broker.stop, history.broker.start))


def a_client_is_deleted_in_the_middle_of_its_reboot(history: History) -> None:
    """In a small fleet only one display is rebooted for silence at a time, so the next one must wait."""
    first, second = of(history)[:2]
    first.nature = Nature(boot_seconds=700.0)
    history.agenda.at(300.0, partial(first.ail, Ailment("frozen", "reboot")))
    history.agenda.at(330.0, partial(second.ail, Ailment("frozen", "reboot")))
    for moment in range(530, 700, 5):
        history.agenda.at(float(moment), partial(_delete_once_off, history, first))


def _delete_once_off(history: History, display: Display) -> None:
    if not display.is_on and display.uuid not in history.judge.truth.deleted:
        history.operator.delete(display)


def displays_log_while_the_bridge_restarts(history: History) -> None:
    """Each kill comes right after a line: some are stored by then, and their displays are not told so."""
    history.keep_logs()
    for display in of(history):
        for moment in range(100, 1200, 7):
            history.agenda.at(moment, display.log)
        for again in (301.0, 420.0, 539.0):  # the spool is sent again
            history.agenda.at(again, display.flap)
    for killed in (282.1, 401.1, 520.1):
        history.agenda.at(killed, history.bridges[0].kill)
        history.agenda.at(killed + 20.0, history.bridges[0].start)


# --- broken rules ---


def by_the_displays_clock(read: Callable[[str, float, bytes], Any]) -> Callable[[str, float, bytes], Any]:
    """The age of a heartbeat comes from its display's clock."""

    def handler(uuid: str, heard: float, payload: bytes) -> Any:
        late = "2026-03-02T0" in json.loads(payload)["ts"]
        return read(uuid, heard - 4 * HOUR if late else heard, payload)

    return handler


@contextmanager
def clocks_are_believed() -> Iterator[None]:
    late = patch.object(messages, "heartbeat", by_the_displays_clock(messages.heartbeat))
    with late, patch("shared.clients.signs_rules.due", lambda *_: {}):
        yield


@contextmanager
def told_too_early() -> Iterator[None]:
    """Five more lines are reported as committed than are stored."""
    settle = log_rules.settle

    def generous(*asked: Any, **more: Any) -> Any:
        found = settle(*asked, **more)
        return log_rules.Settled(found.fresh[:-1], found.mark, found.given_up)

    with patch.object(log_rules, "settle", generous):
        yield


def never_again(_leader: Leader) -> None:
    raise DatabaseAway


def regardless_of_intervals(counted: Query[SilentAtSite]) -> Query[SilentAtSite]:
    """The same statement, without regard to intervals."""
    return Query(
        str(counted.statement).replace("h.interval_seconds * interval '1 second'", "interval '0'"), SilentAtSite
    )


FORGETFUL: Final = ("bridge.storing.LeaderMemory.forget", lambda _memory: None)
WORLD: Final = {
    "only heartbeats are signs of life": Mutation(
        12,
        900.0,
        one_is_updated_and_its_heartbeats_are_too_large,
        without(("shared.clients.signs_rules.due", lambda *_: {})),
        "needless action",
    ),
    "health is no sign of life where heartbeats are dropped": Mutation(
        20,
        900.0,
        the_heartbeats_of_three_are_dropped,
        without(("shared.clients.signs_rules.due", lambda *_: {})),
        "needless action",
    ),
    "a breaker forgets whom it reckoned with after a day": Mutation(
        8,
        1500.0,
        nothing_of_the_fleet_comes_through_for_days,
        without(
            ("shared.recovery.breakers.rules.counted_since", lambda *_: FAR_AWAY),
            ("shared.recovery.rules.LONGEST_SILENCE", timedelta(days=400)),
            ("shared.recovery.evidence.operations.SEEN_WITHIN", timedelta(days=400)),
        ),
        "needless action",
    ),
    "displays that beat seldom are no mass": Mutation(
        20,
        3900.0,
        some_that_beat_seldom_are_dropped,
        without(
            ("shared.recovery.breakers.store.COUNTED_ALL", regardless_of_intervals(breakers_store.COUNTED_ALL)),
            ("shared.recovery.breakers.store.COUNTED_NAMED", regardless_of_intervals(breakers_store.COUNTED_NAMED)),
        ),
        "needless action",
    ),
    "a breaker does not wait for those that beat seldom": Mutation(
        20,
        5400.0,
        all_that_beat_seldom_are_dropped_for_an_hour,
        without(("shared.recovery.breakers.rules.CLOSES_AFTER_INTERVALS", 0.0)),
        "needless action",
    ),
    "what is silent for more than a day is rebooted": Mutation(
        12,
        1300.0,
        one_that_people_held_for_a_day_is_silent,
        without(
            ("shared.recovery.rules.LONGEST_SILENCE", timedelta(days=400)),
            ("shared.recovery.evidence.operations.SEEN_WITHIN", timedelta(days=400)),
        ),
        "forbidden action",
    ),
    "a display may refuse without end": Mutation(
        3,
        1600.0,
        one_rejects_whatever_it_is_told,
        without(("shared.recovery.rules.MOST_REFUSED", 1000)),
        "pestered",
        (("COMMAND_LOCKOUT_SECONDS", "60"),),
    ),
    "the memory outlives what the database forgot": Mutation(
        12, 800.0, a_copy_of_the_database_is_put_back, without(FORGETFUL), "needless action"
    ),
    "a lead that was lost is never asked for again": Mutation(
        3, 800.0, a_ghost_holds_the_lead, without(("bridge.leader.Leader._lead_again", never_again)), "deaf"
    ),
    "in a large fleet no more are restarted at once than in a small one": Mutation(
        24, 450.0, many_of_a_large_fleet_crash, without(("shared.recovery.rules.cap", lambda _seen: 10)), "late"
    ),
    "in a large fleet any number may be restarted at once": Mutation(
        24, 450.0, many_of_a_large_fleet_crash, without(("shared.recovery.rules.cap", lambda _seen: 1000)), "cap"
    ),
    "a strict broker's terms are not kept": Mutation(
        24,
        420.0,
        many_commands_go_through_a_strict_broker,
        lambda: patch.object(ServiceConnection, "room", lambda *_: PUBLISHED_MAX),
        "thrown out",
    ),
    "displays' clocks are believed": Mutation(
        12, 800.0, clocks_are_hours_behind, clocks_are_believed, "needless action"
    ),
    "the command of a deleted client stays open": Mutation(
        4,
        1100.0,
        a_client_is_deleted_in_the_middle_of_its_reboot,
        without(("shared.commands.operations.abandon", lambda *_: ())),
        "late",
    ),
    "counters that go back are not noticed": Mutation(
        12,
        1800.0,
        one_loses_the_count_of_its_boots,
        without(
            ("shared.clients.reports.operations._new_life", lambda _row: None),
            ("shared.client_logs.rules.is_doubted", lambda *_: False),
            ("shared.client_logs.operations._begin_anew", lambda *_: []),
        ),
        "log lost",
    ),
    "two devices with one login are not noticed": Mutation(
        12,
        1500.0,
        two_share_a_login,
        without(("bridge.storing.sharing", lambda *_: {})),
        "needless action",
    ),
    "a log line is told before it is stored": Mutation(
        3, 1300.0, displays_log_while_the_bridge_restarts, told_too_early, "log lost"
    ),
    "a log line that comes twice is stored twice": Mutation(
        6,
        1300.0,
        displays_log_while_the_bridge_restarts,
        without(("shared.client_logs.rules.is_stored", lambda *_: False)),
        "log twice",
    ),
}
SHARE: Final = ("a log line is told before it is stored",)


@pytest.mark.parametrize("name", WORLD if IS_WHOLE else SHARE)
def test_a_rule_for_the_world_is_seen_broken(scene: Scene, name: str) -> None:
    mutation = WORLD[name]
    settings = dict(mutation.settings)
    broken = scene(mutation.displays, until=mutation.until, **settings)
    mutation.tell(broken)

    with mutation.without():
        outcome = broken.run(mutation.until, lambda: mutation.breach in {one.kind for one in broken.judge.breaches})

    assert mutation.breach in kinds(outcome)
