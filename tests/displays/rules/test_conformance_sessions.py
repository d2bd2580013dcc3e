"""The check for authors of clients: what it makes of a login that two devices use, and of what it did not see."""

import pytest

from displays.conformance import judge_session
from displays.conformance.checklist import RULES, Line, failed, unseen
from displays.conformance.packets import Connect, is_taken_over, split
from displays.conformance.record import Connection, Record
from displays.conformance.verdict import Outcome, Tried, Verdict

CONNECT = Connect(5, "u", "u", clean_start=False, keepalive_seconds=30, session_expiry_seconds=30, will=None)


def record(*connections: tuple[float, float | None]) -> Record:
    """A record of connections, with the times of their start and of their takeover, if any."""
    made = Record()
    for number, (at, taken_over_at) in enumerate(connections):
        made.connections.append(Connection(number, at, CONNECT, taken_over_at=taken_over_at))
    return made


@pytest.mark.parametrize(
    ("connections", "outcome", "why"),
    [
        ([(1.0, None)], Outcome.PASS, "nobody took it over"),
        ([(1.0, 2.0)], Outcome.FAIL, "somebody did who does not connect through the check"),
        ([(1.0, 2.0), (3.0, None)], Outcome.FAIL, "it came back only after that"),
        ([(1.0, 2.0), (1.9, None)], Outcome.PASS, "it was the client itself"),
        ([], Outcome.NOT_SEEN, "it never connected"),
    ],
)
def test_a_session_that_somebody_else_took_over_is_told(
    connections: list[tuple[float, float | None]], outcome: Outcome, why: str
) -> None:
    assert judge_session.own_login(record(*connections), Tried()).outcome is outcome, why


@pytest.mark.parametrize(
    ("packet", "is_so"),
    [(b"\xe0\x01\x8e", True), (b"\xe0\x02\x8e\x00", True), (b"\xe0\x00", False), (b"\xe0\x01\x8d", False)],
)
def test_the_brokers_farewell_is_read(packet: bytes, is_so: bool) -> None:
    [frame] = split(bytearray(packet))

    assert is_taken_over(frame) is is_so


RESTARTS = {"steps", "new_instance", "runs_once", "precondition", "version", "late"}
REBOOTS = {"reboot", "boot_counted", "journal_survives", "leaving"}


@pytest.mark.parametrize(
    ("given", "asked", "not_asked"),
    [
        (set(), {"garbage", "resent", "own_login"}, RESTARTS | REBOOTS | {"screenshot", "hours", "service_failed"}),
        ({"commands"}, RESTARTS | {"screen_on"}, REBOOTS | {"screenshot", "hours", "service_failed"}),
        ({"commands", "token", "screen"}, RESTARTS | {"screenshot", "hours"}, REBOOTS | {"service_failed"}),
        ({"reboot"}, REBOOTS, RESTARTS | {"screenshot", "service_failed"}),
    ],
)
def test_a_row_that_was_asked_for_and_not_seen_is_no_pass(
    given: set[str], asked: set[str], not_asked: set[str]
) -> None:
    lines = [Line(rule, Verdict(Outcome.NOT_SEEN)) for rule in RULES]

    missing = set(unseen(lines, given))

    assert asked <= missing
    assert not missing & not_asked
    assert failed(lines) == []
    assert unseen([Line(rule, Verdict(Outcome.PASS)) for rule in RULES], given) == []
