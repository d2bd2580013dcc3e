"""The bridge's probes: whether it works (otherwise it is restarted), and whether it hears the fleet in time."""

import http.client
import json
import time

import pytest
from msgspec import structs

from bridge import probes
from bridge.status import BridgeProgress, Snapshot, Snapshots
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port

NOW = 1000.0
FINE = Snapshot(
    at=NOW - 1,
    epoch=3,
    is_connected=True,
    committed_at=NOW - 1,
    bulk_at=NOW - 1,
    canary_at=NOW - 5,
    round_trip_at=NOW - 5,
    waiting=0,
    counters={},
)
SILENT = NOW - 31


@pytest.mark.parametrize(
    ("changes", "works", "hears"),
    [
        ({}, True, True),
        ({"canary_at": SILENT}, True, False),  # the backlog is so long that canaries expire in it: no restart helps
        ({"round_trip_at": SILENT}, False, False),  # it overtakes the backlog, so something is broken
        ({"canary_at": SILENT, "committed_at": SILENT}, False, False),
        ({"committed_at": SILENT}, False, False),
        ({"bulk_at": SILENT}, False, False),  # only ACKs are committed
        ({"is_connected": False}, False, False),
        ({"at": NOW - 46}, False, False),
        ({"at": NOW - 46, "epoch": None}, False, False),
    ],
)
def test_a_backlog_is_no_reason_to_restart(changes: dict[str, float | None], works: bool, hears: bool) -> None:
    snapshot = structs.replace(FINE, **changes)

    assert (not snapshot.faults(NOW)) is works
    assert (not snapshot.faults(NOW) and not snapshot.lateness(NOW)) is hears


def test_only_a_canary_that_came_back_proves_a_round_trip_and_only_of_its_own_queue() -> None:
    progress = BridgeProgress()
    progress.committed(NOW, None, is_urgent=True)
    progress.committed(NOW, None, is_urgent=False)
    assert faults_of(progress) == ["the canary makes no round trip", "heartbeats are late"]

    progress.committed(NOW, NOW - 1, is_urgent=False)
    assert faults_of(progress) == ["the canary makes no round trip"]

    progress.committed(NOW, NOW - 1, is_urgent=True)
    assert faults_of(progress) == []


def faults_of(progress: BridgeProgress) -> list[str]:
    snapshot = structs.replace(FINE, **structs.asdict(progress))
    return [why.partition(":")[0] for why in (*snapshot.faults(NOW), *snapshot.lateness(NOW))]


def test_a_standby_works_without_a_canary() -> None:
    snapshot = structs.replace(
        FINE, epoch=None, is_connected=False, canary_at=SILENT, round_trip_at=SILENT, committed_at=SILENT
    )

    assert snapshot.faults(NOW) == []
    assert snapshot.lateness(NOW) == []


def ask(port: int, path: str) -> tuple[int, list[str]]:
    """The status and the reported faults."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())["faults"]
    finally:
        connection.close()


def test_a_loop_that_stands_still_is_told_by_the_thread_that_answers() -> None:
    snapshots, port = Snapshots(), free_port()
    stop = probes.serve(LOOPBACK, port, snapshots)
    try:
        assert ask(port, "/healthz") == (503, ["starting"])
        now = time.monotonic()
        fresh = dict.fromkeys(("at", "committed_at", "bulk_at", "canary_at", "round_trip_at"), now)
        snapshots.latest = structs.replace(FINE, **fresh)
        assert ask(port, "/healthz") == ask(port, "/readyz") == (200, [])

        snapshots.latest = structs.replace(snapshots.latest, at=now - 46)

        assert ask(port, "/healthz") == ask(port, "/readyz") == (503, ["the loop stands still"])
    finally:
        stop()
