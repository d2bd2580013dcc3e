"""Use cases of proofs: whatever shows without an ACK that a command succeeded or failed."""

from collections.abc import Collection, Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.commands import proofs_store, store
from shared.commands.news_operations import news_of
from shared.commands.rules import News, Sighting


class ProofReport(Struct, frozen=True):
    """Ids of the commands that a batch of heartbeats proved."""

    succeeded: frozenset[str]
    confirmed: frozenset[str]
    """Commands whose ACKed success the heartbeat confirms."""
    overtaken: frozenset[str]
    """Cancelled reboots: provably no display had them, and the machine has booted."""
    news: tuple[News, ...] = ()
    """For the log."""


class SettledReport(Struct, frozen=True):
    """How many open commands ended by a proof."""

    proven: int
    disproved: int
    overtaken: int
    news: tuple[News, ...] = ()
    """For the log."""


def record_new_starts(connection: Connection, now: datetime, sightings: Sequence[Sighting]) -> ProofReport:
    """Take heartbeats with a new boot or start of the player as the proof of a reboot or restart.

    A reboot that provably no display has is cancelled as overtaken; its lockout ends.
    """
    if not sightings:
        return ProofReport(frozenset(), frozenset(), frozenset())
    store.lock_clients(connection, {sighting.client_uuid for sighting in sightings})
    overtaken = proofs_store.cancel_overtaken(connection, now, sightings)
    succeeded = proofs_store.succeed_by_start(connection, now, sightings)
    confirmed = proofs_store.confirm_by_start(connection, now, sightings)
    cancelled = [one.id for one in overtaken]
    news = news_of("command_proven", connection, [*succeeded, *confirmed, *cancelled])
    return ProofReport(frozenset(succeeded), frozenset(confirmed), frozenset(cancelled), news)


def record_picture(connection: Connection, now: datetime, command_id: str) -> tuple[News, ...]:
    """Take a stored picture as the proof of its screenshot. Call it in the transaction that stores the picture."""
    return news_of("command_proven", connection, proofs_store.succeed_by_picture(connection, now, command_id))


def record_screens(connection: Connection, now: datetime, uuids: Collection[str]) -> tuple[News, ...]:
    """Take the stored health reports of these clients as proof that their screens were switched on or off."""
    if not uuids:
        return ()
    return news_of("command_proven", connection, proofs_store.succeed_by_screen(connection, now, uuids))


def settle_by_proof(connection: Connection, now: datetime) -> SettledReport:
    """End the open commands whose outcome is proven.

    1. A new boot or start of the player, stored while the command was being made.
    2. A received shutdown whose display has disconnected or is silent.
    3. A begun reboot whose display still sends heartbeats of the old boot after three minutes.
    4. A screen_on or screen_off that a health report shows done, or after half a minute not done.
    """
    concerned = proofs_store.clients_with_proof(connection, now)
    if not concerned:
        return SettledReport(0, 0, 0)
    store.lock_clients(connection, concerned)
    overtaken = proofs_store.cancel_overtaken(connection, now, None)
    proven = proofs_store.succeed_by_start(connection, now, None) + proofs_store.succeed_by_silence(connection, now)
    proven += proofs_store.succeed_by_screen(connection, now, None)
    failed = proofs_store.disprove_reboots(connection, now) + proofs_store.disprove_screens(connection, now)
    disproved = [one.id for one in failed]
    ended = [*proven, *disproved, *(one.id for one in overtaken)]
    news = news_of("command_proven", connection, ended)
    return SettledReport(len(proven), len(disproved), len(overtaken), news)
