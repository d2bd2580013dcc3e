"""Which moves and ends the command machine has reached, and which a run must reach to be meaningful."""

from collections import Counter

import sqlalchemy as sa
from sqlalchemy import Engine

from shared.commands.rules import MOVES
from shared.postgres.query import Query

LEGAL = {(source.value, move.to.value) for move in MOVES for source in move.sources}
"""Every move of the state table, as (from, to)."""
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
"""Moves and ends that come in less than one of fifty interleavings: a whole campaign must reach them, a share not."""
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
MOVES_OF: Query[tuple[str, str]] = Query("SELECT source, target FROM moves WHERE client_uuid = :client", tuple)
"""Every change of state of a command."""


def write_down_moves(engine: Engine) -> None:
    """Install a trigger that records every change of a command's state, also within transactions."""
    with engine.begin() as connection:
        connection.execute(sa.text(WRITE_DOWN_MOVES))


def end_of(state: str, confirmed_by: str | None, outcome_reason: str | None) -> str:
    """How a command ended, as in ENDS."""
    return f"{state}: {confirmed_by if state == 'succeeded' else outcome_reason}"


def missing(reached: Counter[str]) -> list[str]:
    """The moves and ends that this run did not reach."""
    wanted = {f"{source} -> {target}" for source, target in LEGAL} | ENDS | DOUBTS
    return sorted(wanted - set(reached))
