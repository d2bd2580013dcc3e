"""Every order in which a command's ACKs, a report that repeats them, and a new start can arrive or be lost."""

from datetime import datetime
from typing import Final

import pytest
from sqlalchemy import Connection

from shared.commands import operations
from shared.commands.acks.operations import AckReport, record_acks
from shared.commands.rules import Ack
from shared.vocabulary import CommandState, PublishAnswer
from tests.stores.commands_world import (
    BOOT,
    RESTART,
    START,
    TIMINGS,
    command,
    issue,
    publish,
    seconds,
    see,
    state,
)
from tests.stores.test_commands_proofs import beat

ORDERS: Final = [
    # (what arrives, in order; 30 s apart), (state, reason), confirmed by
    ("acks", ("running", None), None),  # its word alone proves nothing
    ("acks start", ("succeeded", None), "evidence"),
    ("acks report start", ("succeeded", None), "evidence"),
    ("acks start report", ("succeeded", None), "both"),
    ("report acks start", ("succeeded", None), "evidence"),
    ("report start acks", ("succeeded", None), "both"),
    ("start acks report", ("succeeded", None), "both"),
    ("start report acks", ("succeeded", None), "both"),
    ("start acks", ("succeeded", None), "evidence"),
    ("report start", ("succeeded", None), "evidence"),  # the ACKs are lost
    ("start report", ("succeeded", None), "evidence"),
    ("start report report", ("succeeded", None), "both"),
    ("report", ("running", None), None),
    ("report report", ("running", None), None),
    ("start", ("sent", None), None),  # its player may have crashed: nothing says that it got the command
    ("", ("sent", None), None),
]


def report(connection: Connection, now: datetime, client: str, name: str) -> AckReport:
    """A heartbeat or health report says that this command succeeded; it names no boot."""
    return record_acks(connection, now, [Ack(client, name, CommandState.SUCCEEDED)], TIMINGS)


def acknowledge(connection: Connection, now: datetime, client: str, name: str) -> None:
    words = ("received", "running", "succeeded")
    acks = [Ack(client, name, CommandState(word), boot_id=BOOT, app_instance=START) for word in words]
    record_acks(connection, now, acks, TIMINGS)


@pytest.mark.parametrize(("arriving", "outcome", "confirmed_by"), ORDERS, ids=[order for order, _, _ in ORDERS])
def test_a_restart_ends_the_same_way_in_every_order(
    connection: Connection,
    now: datetime,
    client: str,
    arriving: str,
    outcome: tuple[str, str | None],
    confirmed_by: str | None,
) -> None:
    name = issue(connection, now, client, RESTART, ttl=seconds(600))
    publish(connection, now, name, PublishAnswer.SUCCESS)
    at = now
    for what in arriving.split():
        at += seconds(30)
        if what == "start":
            beat(connection, client, at, app_instance="start-2")
            see(connection, at, client, BOOT, "start-2")
        else:
            (acknowledge if what == "acks" else report)(connection, at, client, name)
        operations.expire(connection, at)  # the tick

    assert state(connection, name) == outcome
    assert command(connection, name)["confirmed_by"] == confirmed_by
