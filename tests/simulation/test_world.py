"""Each part of the wide world behaves as described."""

from collections import Counter
from datetime import timedelta

import pytest
import sqlalchemy as sa

from tests.lab.simulation.agenda import BEGINNING, Agenda
from tests.lab.simulation.ages import leap
from tests.lab.simulation.ailments import Ailment
from tests.lab.simulation.broker import Message, Rule, SimulatedBroker
from tests.lab.simulation.history import Databases
from tests.lab.simulation.log_ledger import LogLedger
from tests.lab.simulation.worlds import Kind, kind_of
from tests.simulation.conftest import Scene, of

ALL = sa.text(
    "SELECT (SELECT string_agg(CAST(c AS text), '|' ORDER BY c.uuid) FROM clients AS c),"
    " (SELECT string_agg(CAST(k AS text), '|' ORDER BY k.id) FROM client_commands AS k),"
    " (SELECT CAST(b AS text) FROM bridge_status AS b)"
)


def whole(databases: Databases) -> tuple[str, ...]:
    with databases.judge.connect() as connection:
        return tuple(connection.execute(ALL).one())


def test_a_copy_that_is_put_back_makes_the_database_what_it_was(scene: Scene, databases: Databases) -> None:
    history = scene(3, until=500.0)
    was: list[tuple[str, ...]] = []

    def keep() -> None:
        databases.copies.make()
        history.judge.keeps()
        was.append(whole(databases))

    def put_back() -> None:
        was.append(whole(databases))
        databases.copies.put_back()
        history.judge.forgets()
        was.append(whole(databases))

    history.agenda.at(200.0, keep)
    history.agenda.at(300.0, lambda: of(history)[0].ail(Ailment("crashed", "restart")))
    history.agenda.at(420.0, put_back)
    history.run(421.0)

    before, since, after = was
    assert before == after
    assert before != since


def test_a_leap_makes_who_is_silent_silent_for_longer_and_nobody_else(scene: Scene) -> None:
    history = scene(3, until=700.0)
    silent, talks, _ = of(history)
    history.agenda.at(100.0, silent.lose_network)
    history.agenda.at(600.0, lambda: leap(history, 7200.0))

    assert history.run(640.0).breaches == []

    quiet = history.judge.truth.quiet()
    assert quiet[silent.uuid] > timedelta(hours=2)
    assert quiet[talks.uuid] < timedelta(minutes=1)
    assert history.clocks.leapt == 7200.0


def test_the_ledger_tells_what_is_lost_what_comes_twice_and_what_is_stuck() -> None:
    moment = [0.0]
    ledger = LogLedger(lambda: moment[0], lambda: BEGINNING)
    lost, twice, stuck, forgotten = (ledger.new(uuid) for uuid in "abcd")
    moment[0] = 50.0
    ledger.told([lost, twice])
    moment[0] = 105.0
    ledger.told([forgotten])
    ledger.forgotten.append((100.0, 110.0))
    stored = Counter({twice: 2})

    assert {(kind, uuid) for kind, uuid, _ in ledger.faults(stored, {})} == {("log lost", "a"), ("log twice", "b")}

    ledger.forgotten.clear()
    moment[0] = 9999.0
    assert ("log stuck", "c") in {(kind, uuid) for kind, uuid, _ in ledger.faults(stored, {"c": 200.0})}
    assert stuck in ledger.lines


@pytest.mark.parametrize(
    ("days", "lost"), [(7, {"log lost"}), (7.4, {"log lost"}), (7.6, set())], ids=["a week", "not yet a day", "a day"]
)
def test_a_line_is_not_lost_when_its_week_was_over_for_as_long_as_lines_are_kept(days: float, lost: set[str]) -> None:
    now = [BEGINNING]  # Monday at noon, so the week ends after six and a half days
    ledger = LogLedger(lambda: 0.0, lambda: now[0])
    ledger.kept_for = timedelta(days=1)
    ledger.told([ledger.new("a")])

    now[0] += timedelta(days=days)

    assert {kind for kind, _, _ in ledger.faults(Counter(), {})} == lost


class Ear:
    is_cut = False

    def deliver(self, message: Message) -> None: ...
    def lost(self, why: str) -> None: ...


def test_a_crash_forgets_the_sessions_that_began_since_the_broker_saved() -> None:
    agenda = Agenda()
    broker = SimulatedBroker(agenda, lambda: 0.01)
    broker.connect("old", Ear(), 3600.0, None)
    agenda.pass_by(60.0)
    broker.connect("young", Ear(), 3600.0, None)

    broker.crash(30.0)
    broker.start()

    assert broker.connect("old", Ear(), 3600.0, None)
    assert not broker.connect("young", Ear(), 3600.0, None)


def test_a_rule_of_the_broker_drops_what_it_names_and_nothing_of_ours() -> None:
    heartbeats, of_one = Rule(frozenset({"heartbeat"})), Rule(None, frozenset({"u"}))

    assert heartbeats.drops("signage/u/heartbeat")
    assert not heartbeats.drops("signage/u/logs/error")
    assert of_one.drops("signage/u/logs/error")
    assert not of_one.drops("signage/v/heartbeat")
    assert not of_one.drops("signage/service/canary")


def test_every_kind_of_history_has_its_share() -> None:
    told = Counter(kind_of(seed) for seed in range(1_000_000, 1_001_000))

    assert told[Kind.HOUR] > 400
    assert told[Kind.WORLD] > 300
    assert told[Kind.DAY] > 60
    assert told[Kind.WEEK] > 25
