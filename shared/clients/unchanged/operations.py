"""What happens when displays repeat what they said before."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection

from shared.clients.reports.rules import Health, Heartbeat
from shared.clients.unchanged import rules, store


@dataclass
class Memory:
    """What was stored of each client. Only what is committed may be remembered; to forget is always right."""

    heartbeats: dict[str, tuple[int, int]] = field(default_factory=dict)
    health: dict[str, tuple[int, int]] = field(default_factory=dict)
    cursor: str | None = None  # where to look for changes the next time

    def knows(self, uuid: str) -> bool:
        """Whether it was a client when last looked at."""
        return uuid in self.heartbeats or uuid in self.health

    def forget(self, uuids: Collection[str]) -> None:
        """Know nothing of these any more."""
        for uuid in uuids:
            self.heartbeats.pop(uuid, None)
            self.health.pop(uuid, None)


def forget_changed(connection: Connection, memory: Memory) -> str:
    """Forget every client that changed since the last look; answer where to look from, once this is committed."""
    changes = store.changes(connection, memory.cursor, store.FEW)
    if len(changes.uuids) == store.FEW:
        changes = store.changes(connection, memory.cursor)
    memory.forget(changes.uuids)
    return changes.cursor


def repeat_heartbeats(
    connection: Connection, now: datetime, clock: float, said: Collection[Heartbeat], memory: Memory
) -> tuple[list[Heartbeat], dict[str, tuple[int, int]]]:
    """Write the heartbeats that repeat what is known; answer the others, and what to remember once committed."""
    same, others = rules.split(said, memory.heartbeats, rules.likeness_of_heartbeat)
    if same and store.touch_heartbeats(connection, now, clock, same) < len(same):
        odd = store.untouched(connection, "client_heartbeats", same)
        same, others = rules.split(said, memory.heartbeats, rules.likeness_of_heartbeat, odd)
    return others, rules.remembered(same, rules.likeness_of_heartbeat)


def repeat_health(
    connection: Connection, now: datetime, clock: float, said: Collection[Health], memory: Memory, odd: Collection[str]
) -> tuple[list[Health], dict[str, tuple[int, int]]]:
    """As `repeat_heartbeats`; the reports of clients among `odd` are not taken for repetitions."""
    same, others = rules.split(said, memory.health, rules.likeness_of_health, odd)
    if same and store.touch_health(connection, now, clock, same) < len(same):
        odd = {*odd, *store.untouched(connection, "client_health", same)}
        same, others = rules.split(said, memory.health, rules.likeness_of_health, odd)
    return others, rules.remembered(same, rules.likeness_of_health)
