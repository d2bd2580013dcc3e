"""The verdict of the check for authors of clients about the interval of heartbeats after a lost connection."""

import json

import pytest

from deploy.displays.conformance import judge_messages
from deploy.displays.conformance.record import Heard, Record, Said
from deploy.displays.conformance.verdict import Outcome, Tried

CUT_AT = 20.0


def beat(at: float, seconds: int, connection: int = 0) -> Said:
    payload = json.dumps({"process_status": "running", "interval_seconds": seconds}).encode()
    return Said(at, connection, "signage/u/heartbeat", "heartbeat", payload, 1, retain=False, expiry_seconds=None)


def wish(at: float, seconds: int, connection: int = 0) -> Heard:
    payload = json.dumps({"v": 1, "interval_seconds": seconds, "until": 600}).encode()
    return Heard(at, connection, "interval", payload, retain=False, expiry_seconds=60, ours=seconds == 60)


@pytest.mark.parametrize(
    ("beats", "wishes", "outcome", "why"),
    [
        ([beat(21, 30, 1)], [], Outcome.PASS, "its own again"),
        ([beat(21, 60, 1)], [], Outcome.FAIL, "what this check asked for"),
        ([beat(21, 120, 1)], [wish(15, 120)], Outcome.FAIL, "what the service asked for after this check"),
        ([beat(21, 30, 1), beat(31, 120, 1)], [wish(30, 120, 1)], Outcome.PASS, "the service asked again"),
        ([beat(21, 30, 1), beat(31, 60, 1)], [wish(30, 120, 2)], Outcome.FAIL, "the service asked only later"),
    ],
)
def test_a_wish_ends_with_its_connection(beats: list[Said], wishes: list[Heard], outcome: Outcome, why: str) -> None:
    record, tried = Record(), Tried()
    record.said = [beat(1, 30), beat(11, 60), *beats]
    record.heard = [wish(10, 60), *wishes]
    tried.interval, tried.interval_at, tried.cut_at = 60, 10.0, CUT_AT

    assert judge_messages.interval(record, tried).outcome is outcome, why
