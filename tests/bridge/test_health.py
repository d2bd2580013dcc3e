"""What the bridge says of itself: whether it works (else it is restarted), and whether it hears the fleet in time."""

import dataclasses

import pytest

from bridge.snapshot import Snapshot

NOW = 1000.0
FINE = Snapshot(
    at=NOW - 1,
    epoch=3,
    is_connected=True,
    committed_at=NOW - 1,
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
        ({"canary_at": SILENT}, True, False),  # so much waits that canaries expire on the way: no restart helps
        ({"round_trip_at": SILENT}, False, False),  # it overtakes what waits: something is broken
        ({"canary_at": SILENT, "committed_at": SILENT}, False, False),
        ({"committed_at": SILENT}, False, False),
        ({"is_connected": False}, False, False),
        ({"at": NOW - 61}, False, False),
        ({"at": NOW - 61, "epoch": None}, False, False),
    ],
)
def test_a_backlog_is_no_reason_to_restart(changes: dict[str, float | None], works: bool, hears: bool) -> None:
    snapshot = dataclasses.replace(FINE, **changes)  # type: ignore[arg-type]  # the table's types are mixed

    assert (not snapshot.faults(NOW)) is works
    assert (not snapshot.faults(NOW) and not snapshot.lateness(NOW)) is hears


def test_a_standby_works_without_a_canary() -> None:
    snapshot = dataclasses.replace(
        FINE, epoch=None, is_connected=False, canary_at=SILENT, round_trip_at=SILENT, committed_at=SILENT
    )

    assert snapshot.faults(NOW) == []
    assert snapshot.lateness(NOW) == []
