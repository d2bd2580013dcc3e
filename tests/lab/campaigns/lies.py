"""Displays that lie about commands: none may be shown as succeeded that did not happen, and honest ones all succeed.

Postgres, Mosquitto and the bridge are real. Each round every display gets a command and answers in its way. Time-outs
pass because the campaign sets the times of the commands back; the sweep of the tick then ends what is left.
"""

import contextlib
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.parts.probes import wait_until
from displays.simulated.picture import draw
from extensions.screenshots import operations as screenshots
from extensions.screenshots.rules import read_jpeg
from shared.commands import operations as commands
from shared.commands.rules import CommandRequest
from shared.config import load
from shared.errors import ScreenshotNotWanted
from shared.postgres.door import database_now, transaction
from shared.vocabulary import CommandAction
from tests.lab.campaigns.fleet import PASSWORD
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.liars import CASES, Liar
from tests.lab.campaigns.machine import Machine, machine, rows

PICTURE: Final = read_jpeg(draw("Lobby", "12:00", "running"))

WAIT_SECONDS: Final = 240.0
LONG: Final = timedelta(minutes=10)
HONEST: Final = "honest"
HONEST_SHARE: Final = 0.2
SET_BACK: Final = """
    UPDATE client_commands SET created_at = created_at - span, expires_at = expires_at - span,
        received_at = received_at - span, running_at = running_at - span, result_deadline = result_deadline - span
    FROM (VALUES (INTERVAL '20 minutes')) AS times (span) WHERE rank < 90
"""
REPORTED: Final = """
    SELECT client_uuid, h.boot_seq, h.seq, g.seq FROM client_heartbeats AS h JOIN client_health AS g USING (client_uuid)
"""


@dataclass(frozen=True)
class Plan:
    """The size of the campaign, rounded up to full rounds."""

    commands: int = 10_000
    displays: int = 500
    seed: int = 1


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    count = min(plan.displays, plan.commands)
    ledger = Ledger("lies", plan.seed, {"displays": count})
    began = time.monotonic()
    chance = random.Random(plan.seed)
    found: Counter[tuple[str, str, bool, str]] = Counter()
    with machine(folder) as service:
        displays = [
            Liar(str(uuid.UUID(int=chance.getrandbits(128), version=4)), service.place.displays_port, PASSWORD)
            for _ in range(count)
        ]
        service.set_displays({one.uuid: PASSWORD for one in displays})
        for one, following in zip(displays, [*displays[1:], displays[0]], strict=True):
            one.neighbour = following
            one.connect()
        engine = service.engine()
        try:
            rounds = -(-plan.commands // count)
            for number in range(rounds):
                found += _round(engine, displays, chance)
                say(f"round {number + 1}/{rounds}")
        finally:
            engine.dispose()
            for one in displays:
                one.wire.close()
        _judge(ledger, service, found)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _round(engine: Engine, displays: Sequence[Liar], chance: random.Random) -> Counter[tuple[str, str, bool, str]]:
    """Command every display once. Returns how often (way, action, truth, shown state) came out."""
    for one in displays:
        way, action = _case(chance)
        one.begin(action, way)
    _until_stored(engine, displays)
    _command(engine, displays)
    wait_until(lambda: _all_heard(displays), WAIT_SECONDS)
    for one in displays:
        one.answer()
        one.report()
    _until_stored(engine, displays)
    _send_pictures(engine, displays)
    _sweep(engine)
    for one in displays:  # a lie is repeated, and who was shut down is switched on again
        if one.way == HONEST and one.is_dead:
            one.is_dead = False
            one.boot_anew()
        if not one.truth and not one.is_dead and one.says:
            one.ack(one.says)
        one.report()
    _until_stored(engine, displays)
    with transaction(engine) as connection:
        connection.execute(sa.text(SET_BACK))
    for one in displays:
        one.report()
    _until_stored(engine, displays)
    _sweep(engine)
    for one in displays:
        if not one.truth and not one.is_dead and one.says:
            one.ack(one.says)
            one.report()
    _until_stored(engine, displays)
    said = "SELECT id, state, coalesce(late_state, '') FROM client_commands WHERE id = ANY(:ids)"
    shown = {row[0]: row for row in rows(engine, said, ids=[one.command for one in displays])}
    return Counter((one.way, one.action.value, one.truth, _shown(*shown[one.command][1:])) for one in displays)


def _shown(state: str, late: str) -> str:
    """What people see of a command; a late success counts as one."""
    return "succeeded" if "succeeded" in {state, late} else state


def _case(chance: random.Random) -> tuple[str, CommandAction]:
    if chance.random() < HONEST_SHARE:
        return chance.choice([case for case in CASES if case[0] == HONEST])
    return chance.choice(CASES)


def _command(engine: Engine, displays: Sequence[Liar]) -> None:
    """Issue the commands as the API does for many displays; the bridge publishes them."""
    requests = [
        CommandRequest(one.uuid, one.action, "campaign", "a lie?", ttl=LONG, override_lockout=True) for one in displays
    ]
    with transaction(engine) as connection:
        answers = commands.issue_many(connection, database_now(connection), requests, commands.timings(load({})))
    refused = [answer for answer in answers.values() if isinstance(answer, Exception)]
    assert not refused, refused[:3]


def _all_heard(displays: Sequence[Liar]) -> bool:
    for one in displays:
        one.hear()
    return all(one.command for one in displays)


def _until_stored(engine: Engine, displays: Sequence[Liar]) -> None:
    """Send what waits, until the last heartbeat and health report of each display are stored: the ACKs are, too."""
    talking = [one for one in displays if not one.is_dead]

    def stored() -> bool:
        for one in displays:
            one.hear()
        known = {row[0]: tuple(row[1:]) for row in rows(engine, REPORTED)}
        return all(known.get(one.uuid) == one.reported for one in talking)

    wait_until(stored, WAIT_SECONDS)
    wait_until(lambda: not any(_unanswered(one) for one in displays), WAIT_SECONDS)


def _unanswered(one: Liar) -> bool:
    one.hear()
    return bool(one.wire.unanswered)


def _send_pictures(engine: Engine, displays: Sequence[Liar]) -> None:
    """Store the pictures as the API does; it refuses an old one."""
    for one in displays:
        if one.sends_picture_of_age is not None:
            age = timedelta(seconds=one.sends_picture_of_age)
            with contextlib.suppress(ScreenshotNotWanted), transaction(engine) as connection:
                screenshots.store_asked(connection, database_now(connection), one.uuid, one.command, age, PICTURE)
            one.ack("succeeded")
            one.says = "succeeded"


def _sweep(engine: Engine) -> None:
    """End commands as the tick does."""
    with transaction(engine) as connection:
        commands.expire(connection, database_now(connection))


def _judge(ledger: Ledger, service: Machine, found: Counter[tuple[str, str, bool, str]]) -> None:
    lies = {key: count for key, count in found.items() if not key[2]}
    believed = {key: count for key, count in lies.items() if key[3] == "succeeded"}
    done = {key: count for key, count in found.items() if key[2]}
    missed = {key: count for key, count in done.items() if key[3] != "succeeded"}
    left_open = sum(count for key, count in found.items() if key[3] in {"queued", "sent", "received", "running"})
    for name, cases in (("believed", believed), ("not shown", missed)):
        for (way, action, _, shown), count in sorted(cases.items()):
            tell(f"{name}: {way}, {action}: {shown}, {count} times")
    ledger.counted |= {
        "commands": found.total(),
        "lies": sum(lies.values()),
        "lies_shown_as_succeeded": sum(believed.values()),
        "carried_out": sum(done.values()),
        "carried_out_not_shown": sum(missed.values()),
        "left_open": left_open,
        "exits": service.exits,
    }
    ledger.conditions |= {
        "nothing that did not happen is shown as succeeded": not believed,
        "everything that happened is shown as succeeded": not missed,
        "no command stays open": left_open == 0,
        "nothing ended by itself": service.exits == 0,
    }
