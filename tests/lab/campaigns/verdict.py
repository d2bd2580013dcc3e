"""Compare the database with the displays' record of what they sent."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy import Engine

from deploy.parts.probes import wait_until
from tests.lab.campaigns.fleet import Fleet
from tests.lab.campaigns.ledger import Ledger, wait_while_it_moves
from tests.lab.campaigns.machine import Machine, rows
from tests.lab.campaigns.whole import Whole

REST_SECONDS = 240.0  # without progress; the runner ends a suite that notes none for 300
AT_ONCE = 10
MISCOUNTED = """
    SELECT count(*) FROM (SELECT client_uuid, level, count(*) AS n FROM client_logs
        WHERE client_uuid = ANY(:uuids) GROUP BY 1, 2) AS stored
    FULL JOIN (SELECT client_uuid, CAST(level AS log_level) AS level, sum(lines) AS n
        FROM client_log_hours, LATERAL (VALUES
            ('debug', debug), ('info', info), ('warning', warning), ('error', error), ('critical', critical)
        ) AS counted(level, lines) WHERE client_uuid = ANY(:uuids) AND lines > 0 GROUP BY 1, 2
    ) AS rolled_up USING (client_uuid, level)
    WHERE stored.n IS DISTINCT FROM rolled_up.n
"""
"""Clients and levels whose hourly counts differ from the log."""


def come_to_rest(service: Machine | Whole, displays: Fleet) -> float:
    """Wait until every line is committed and each display has sent two more reports. Returns the seconds."""
    began = time.monotonic()
    until_committed(displays, service.looked_after)
    took = time.monotonic() - began
    marks = {one.uuid: one.seq for one in displays.displays}
    wait_until(lambda: all(one.seq >= marks[one.uuid] + 4 for one in displays.displays), REST_SECONDS)
    engine = service.engine()
    try:
        wait_until(lambda: _newest_is_stored(engine, displays), REST_SECONDS)
    finally:
        engine.dispose()
    return took


def until_connected(displays: Fleet) -> None:
    """Wait until all displays are connected, as long as more of them are."""
    wait_while_it_moves(lambda: displays.connected, lambda connected: connected == len(displays.displays), REST_SECONDS)


def until_committed(displays: Fleet, look_after: Callable[[], None] = lambda: None) -> None:
    """Wait until all displays are connected and all their lines committed, as long as more of these are."""

    def left() -> int:
        look_after()
        return displays.uncommitted

    wait_while_it_moves(left, lambda lines: lines == 0 and displays.is_connected, REST_SECONDS)


def _newest_is_stored(engine: Engine, displays: Fleet) -> bool:
    """Whether the stored state of each display is at most one interval old."""
    stored = {row[0]: row[1] for row in rows(engine, "SELECT client_uuid, seq FROM client_heartbeats")}
    return all(one.seq - stored.get(one.uuid, 0) <= 4 for one in displays.displays)


@dataclass(frozen=True)
class Found:
    """The database's rows of some displays."""

    lines: dict[str, Counter[str]]
    """Display -> line -> how often it is stored."""
    miscounted: int
    failed: dict[object, object]
    """Client -> unit of its open failure."""
    dead_letters: int


def _found(engine: Engine, uuids: list[str]) -> Found:
    lines: dict[str, Counter[str]] = {uuid: Counter() for uuid in uuids}
    said = "SELECT client_uuid, message FROM client_logs WHERE client_uuid = ANY(:uuids)"
    for some in _in_parts(uuids):
        for client, message in rows(engine, said, uuids=some):
            lines[str(client)][str(message)] += 1
    miscounted = sum(int(str(rows(engine, MISCOUNTED, uuids=some)[0][0])) for some in _in_parts(uuids))
    failed = {row[0]: row[1] for row in rows(engine, "SELECT uuid, service_failed_unit FROM clients")}
    theirs = "SELECT coalesce(sum(count), 0) FROM dead_letters WHERE split_part(topic, '/', 2) = ANY(:uuids)"
    return Found(lines, miscounted, failed, int(str(rows(engine, theirs, uuids=uuids)[0][0])))


def judge(ledger: Ledger, service: Machine | Whole, displays: Fleet) -> None:
    """Compare the database with the displays' record."""
    engine = service.engine()
    try:
        found = _found(engine, [one.uuid for one in displays.displays])
    finally:
        engine.dispose()
    expected = {one.uuid: {f"line {n}" for n in range(1, one.lines + 1)} for one in displays.displays}
    lost = sum(len(lines - found.lines[client].keys()) for client, lines in expected.items())
    twice = sum(count - 1 for counts in found.lines.values() for count in counts.values())
    foreign = sum(len(found.lines[client].keys() - lines) for client, lines in expected.items())
    failures = sum(
        one.failures > 0 and found.failed.get(one.uuid) != f"unit-{one.failures}" for one in displays.displays
    )
    counted = {"lines": displays.lines, "lost": lost, "twice": twice, "wrong_failures": failures}
    ledger.counted |= counted | {"good_put_aside": found.dead_letters, "exits": service.exits}
    ledger.conditions |= {
        "no line lost": lost == 0,
        "no line twice": twice == 0,
        "no line that nobody said": foreign == 0,
        "the hourly roll-up counts what is stored": found.miscounted == 0,
        "every standing failure is the last one": failures == 0,
        "nothing ended by itself": service.exits == 0,
        "no dead letter of a good message": found.dead_letters == 0,
    }


def _in_parts(uuids: list[str]) -> Iterator[list[str]]:
    """The uuids in small parts, because one statement cannot read all lines of a long campaign."""
    for first in range(0, len(uuids), AT_ONCE):
        yield uuids[first : first + AT_ONCE]


def judge_states(ledger: Ledger, service: Machine) -> None:
    """Check that no display was ever shown as stale, because all talked all the time."""
    engine = service.engine()
    try:
        question = "SELECT count(*) FROM client_state_changes WHERE to_status IN ('crashed', 'stale', 'stopped')"
        dead = int(rows(engine, question)[0][0])
        running = int(rows(engine, "SELECT count(*) FROM clients WHERE status = 'running'")[0][0])
        others = int(rows(engine, "SELECT count(*) FROM clients")[0][0]) - running
    finally:
        engine.dispose()
    ledger.counted |= {"thought_dead": dead, "not_running_in_the_end": others}
    ledger.conditions |= {"no display was thought dead": dead == 0, "all run in the end": others == 0}
