"""The order of the bridge's duties: an outage is recorded before the messages that waited during it."""

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from bridge import duties
from bridge.batches import Pace
from bridge.duties import Due
from bridge.leader import DatabaseAway, Leader
from bridge.loop import BridgeLoop

DUTIES = (
    *("_announce", "_sweep", "_begin_budgets", "_store_urgent", "_store_batch"),
    *("_end_still_session", "_close_gaps", "_send_canary", "_work_outbox", "_tell_hours"),
)


def without_services() -> Any:
    """A bridge that has only its pace."""
    bridge: Any = object.__new__(BridgeLoop)
    bridge._pace = Pace()
    return bridge


def test_what_nobody_heard_is_swept_before_any_message_is_written() -> None:
    """In the other order a heartbeat that waited for the database would show the outage as a time of running."""
    bridge, done = without_services(), []
    for name in DUTIES:
        setattr(bridge, name, lambda _broker, name=name: done.append(name))
    bridge._receipts = SimpleNamespace(tell=lambda _broker: done.append("tell"))
    quiet = SimpleNamespace(bulk=SimpleNamespace(arrivals=()), step=lambda _: None, read_on=lambda _: None, fault=None)

    bridge._listen(quiet)

    assert set(done) == {*DUTIES, "tell"}
    assert done.index("_announce") < done.index("_sweep")  # it records since when the bridge listens
    assert done.index("_sweep") < min(done.index("_store_urgent"), done.index("_store_batch"))


@pytest.mark.parametrize(("deaf", "parts_at_once"), [(True, 3), (False, 1)])
def test_only_what_nobody_heard_is_swept_whole_before_messages_are_written(
    deaf: bool, parts_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def part(_database: Any, _now: Any, _stale: int, _heard: Any, uuids: list[str]) -> int:
        asked.append(uuids)
        return 0

    monkeypatch.setattr("bridge.duties.MOST_AT_ONCE", 2)
    monkeypatch.setattr("bridge.duties.statuses_operations.candidates", lambda *_: ["a", "b", "c", "d", "e"])
    monkeypatch.setattr("bridge.duties.database_now", lambda _: None)
    monkeypatch.setattr("bridge.duties.leadership_store.bridge_status", lambda _: None)
    monkeypatch.setattr("bridge.duties.leadership_rules.listening", lambda *_: SimpleNamespace(deaf=deaf))
    monkeypatch.setattr("bridge.duties.statuses_operations.sweep", part)
    due, leader = Due(), cast("Leader", SimpleNamespace(database=MagicMock))
    if deaf:
        due.unswept = ["d", "e"]  # a sweep was under way when the silence began

    duties.sweep(leader, due, 180)

    assert len(asked) == parts_at_once
    while due.is_sweep:  # the rest is due at once
        duties.sweep(leader, due, 180)
    assert asked == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.parametrize(("looked", "rest"), [(0.01, 5.0), (0.2, 10.0), (3.0, 30.0)])
def test_a_sweep_rests_fifty_times_as_long_as_it_looked_for_displays(looked: float, rest: float) -> None:
    assert duties.rest_after(looked) == pytest.approx(rest)


def test_a_sweep_for_which_the_database_is_away_is_due_as_soon_as_it_is_back() -> None:
    def away() -> None:
        raise DatabaseAway

    due, leader = Due(), cast("Leader", SimpleNamespace(database=away))

    with pytest.raises(DatabaseAway):
        duties.sweep(leader, due, 180)

    assert due.is_sweep


def test_a_session_is_still_only_when_canaries_were_sent_and_nothing_came() -> None:
    """While the database is away none is sent: a small fleet's silence proves nothing then."""
    bridge = without_services()
    aborted: list[str] = []
    urgent = SimpleNamespace(is_ready=True, room=lambda: True, publish=lambda *_: None)
    broker: Any = SimpleNamespace(bulk=SimpleNamespace(arrivals=[]), urgent=urgent, abort=aborted.append)
    bridge._unheard, bridge._due, bridge._instance = 0, Due(), "me"
    bridge._topics = SimpleNamespace(canary="signage/service/canary")
    for _ in range(4):
        bridge._due.connected()
        bridge._send_canary(broker)
        bridge._end_still_session(broker)
    assert not aborted

    bridge._due.connected()
    bridge._send_canary(broker)
    broker.bulk.arrivals = ["a message"]
    bridge._end_still_session(broker)
    assert not aborted
    broker.bulk.arrivals = []
    bridge._end_still_session(broker)
    assert len(aborted) == 1
