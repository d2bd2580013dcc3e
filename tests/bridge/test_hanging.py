"""A hanging bridge reports it: /healthz answers 503 within 45 s, and 200 again when the bridge continues.

The bridges here use a fifth of all waiting times. test_health.py holds the real ones.
"""

import os
import signal
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.bridge.conftest import Database, Display, StartBridge, eventually, stamp

A_FIFTH = {
    "bridge.duties.CANARY_SECONDS": 2.0,
    "bridge.leader.LONGEST_BACK_OFF_SECONDS": 1.0,
    "bridge.status.LOOP_SILENT_SECONDS": 9.0,
    "bridge.status.CANARY_PERIODS_SECONDS": 6.0,
    "shared.postgres.door.LOCK_TIMEOUT_MS": 800,
    "shared.postgres.door.STATEMENT_TIMEOUT_MS": 1_600,
    "shared.postgres.door.SOCKET_TIMEOUT_SECONDS": 2,
}
WHILE_MARKED = """
import pathlib, time
from bridge.loop import BridgeLoop
from tests.bridge.preloaded import run
usual = BridgeLoop._store_batch
def store_batch(self, broker):
    while pathlib.Path({mark!r}).exists():
        {does}
    usual(self, broker)
BridgeLoop._store_batch = store_batch
run({constants!r})
"""


def faulty(mark: Path, does: str) -> tuple[str, str]:
    """The program of a bridge that does `does` instead of writing reports, while the file exists."""
    return "-c", WHILE_MARKED.format(mark=str(mark), does=does, constants=A_FIFTH)


def lines(database: Database, name: str) -> list[str]:
    found = database.rows("SELECT message FROM client_logs WHERE client_uuid = :u ORDER BY id", u=name)
    return [row["message"] for row in found]


def test_a_bridge_whose_session_stands_still_is_told_and_works_on_when_it_goes_on(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    """The hanging session keeps the leader lock, so no other session can get it."""
    bridge = start_bridge(constants=A_FIFTH)
    display.publish("logs/info", {"message": "one", **stamp(1)})
    eventually(lambda: lines(database, display.uuid) == ["one"])
    leading = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
    backend = database.value(leading)
    os.kill(backend, signal.SIGSTOP)
    try:
        display.publish("logs/info", {"message": "two", **stamp(2)})
        eventually(lambda: "no batch is committed" in bridge.ask("/healthz")[1].get("faults", []))
        assert (bridge.ask("/healthz")[0], bridge.ask("/readyz")[0]) == (503, 503)
    finally:
        os.kill(backend, signal.SIGCONT)

    eventually(lambda: bridge.ask("/healthz")[0] == 200)
    eventually(lambda: lines(database, display.uuid) == ["one", "two"])
    assert bridge.process.poll() is None


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("time.sleep(0.05)", "the loop stands still"),
        ("raise RuntimeError", "what displays report is not committed"),  # the canary returns all the time
    ],
)
def test_a_bridge_that_writes_no_reports_is_told_and_loses_none(
    does: str, told: str, start_bridge: StartBridge, display: Display, database: Database, tmp_path: Path
) -> None:
    mark = tmp_path / "faulty"
    bridge = start_bridge(program=faulty(mark, does))
    mark.touch()
    display.publish("logs/info", {"message": "one", **stamp(1)})
    eventually(lambda: told in bridge.ask("/healthz")[1].get("faults", []))
    assert bridge.ask("/healthz")[0] == 503

    mark.unlink()

    eventually(lambda: bridge.ask("/healthz")[0] == 200)
    eventually(lambda: lines(database, display.uuid) == ["one"])


def test_a_bridge_that_waits_for_a_table_is_told(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    bridge = start_bridge(constants=A_FIFTH)
    with database.engine.begin() as held:
        held.execute(sa.text("LOCK TABLE client_logs IN ACCESS EXCLUSIVE MODE"))
        display.publish("logs/info", {"message": "one", **stamp(1)})
        eventually(lambda: "no batch is committed" in bridge.ask("/healthz")[1].get("faults", []))
        assert bridge.ask("/healthz")[0] == 503

    eventually(lambda: bridge.ask("/healthz")[0] == 200)
    eventually(lambda: lines(database, display.uuid) == ["one"])


def test_a_bridge_that_is_stopped_answers_nobody_and_works_on_afterwards(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    bridge = start_bridge(constants=A_FIFTH)
    bridge.send(signal.SIGSTOP)
    display.publish("logs/info", {"message": "one", **stamp(1)})

    assert bridge.ask("/healthz", patience_seconds=2) == (0, {})  # a probe without an answer in time has failed

    bridge.send(signal.SIGCONT)
    eventually(bridge.ready)
    eventually(lambda: lines(database, display.uuid) == ["one"])
