"""What the command machine has reached, and what a run that means something must have reached."""

from collections import Counter
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine

from shared.commands.rules import MOVES
from shared.postgres.statements import constant
from tests.stores.command_faults import Database

LEGAL = {(source.value, move.to.value) for move in MOVES for source in move.sources}
"""Every move of the table, as (from, to)."""
ENDS = {
    "expired: never_published",
    "expired: no_subscriber",
    "expired: no_ack",
    "timed_out: no_result",
    "cancelled: cancelled by anna",
    "cancelled: no_subscriber",
    "cancelled: already_rebooted",
    "failed: publish_denied",
    "failed: reboot_did_not_happen",
    "failed: interrupted",
    "failed: no_player",
    "rejected: precondition_failed",
    "rejected: busy",
    "succeeded: ack",
    "succeeded: evidence",
    "succeeded: both",
    "kept late",
    "unanswered",
}
DOUBTS = {
    "the broker is down",
    "an answer after its lease",
    "a publisher that dies before it records",
    "a claim lost",
    "a claim that nobody heard of",
    "answers lost after the publish",
    "answers recorded unheard",
    "a command stored unheard, asked for again",
    "ACKs lost",
    "ACKs stored unheard",
    "a tick that dies",
    "a message delivered again",
    "power lost between two steps",
    "a journal lost",
    "a forged ACK refused",
    "a lockout given back",
    "a shutdown told by silence",
    "two at once",
}
RARE = {
    "received -> timed_out",
    "received -> failed",
    "received -> rejected",
    "running -> rejected",
    "sent -> failed",
    "sent -> rejected",
    "cancelled: already_rebooted",
    "cancelled: no_subscriber",
    "expired: no_subscriber",
    "failed: no_player",
    "rejected: busy",
    "ACKs stored unheard",
}
"""What comes less than once in fifty interleavings: a whole campaign must have reached it, a share need not."""
WRITE_DOWN_MOVES = """
CREATE TABLE IF NOT EXISTS moves (client_uuid text, command_id text, source text, target text);
CREATE INDEX IF NOT EXISTS ix_moves ON moves (client_uuid);
CREATE OR REPLACE FUNCTION write_down_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO moves VALUES (new.client_uuid, new.id, old.state, new.state);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER write_down_move AFTER UPDATE OF state ON client_commands
    FOR EACH ROW EXECUTE FUNCTION write_down_move();
"""
MOVES_OF = constant(sa.text("SELECT source, target FROM moves WHERE client_uuid = :client"))


def write_down_moves(engine: Engine) -> None:
    """From now on this database remembers every change of a command's state, within transactions too."""
    with engine.begin() as connection:
        connection.execute(sa.text(WRITE_DOWN_MOVES))


def moves_of(database: Database, client: str) -> list[tuple[str, str]]:
    """Every change of a state of this client's commands."""
    return [(row["source"], row["target"]) for row in database.look(MOVES_OF, client=client)]


def end_of(row: dict[str, Any]) -> str:
    """How a command ended, in the words of ENDS."""
    return f"{row['state']}: {row['confirmed_by'] if row['state'] == 'succeeded' else row['outcome_reason']}"


def missing(reached: Counter[str]) -> list[str]:
    """What this run never reached."""
    wanted = {f"{source} -> {target}" for source, target in LEGAL} | ENDS | DOUBTS
    return sorted(wanted - set(reached))
