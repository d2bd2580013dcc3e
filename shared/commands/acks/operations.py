"""What displays say of their commands, taken in batches by the bridge."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import Connection

from shared.commands import store as commands
from shared.commands.acks import store
from shared.commands.rules import (
    RECEIVED,
    RUNNING,
    Ack,
    Known,
    Move,
    News,
    Sighting,
    Timings,
    first_result_each,
    may_matter,
)
from shared.postgres.door import scrub
from shared.structured_log import event
from shared.trace import trace_id
from shared.vocabulary import CommandState

STRANGE_TOLD = 10  # of a batch
LONGEST_REASON = 500  # characters of a display's reason that are kept
WORDS = {
    "command_acked": "a display answered a command",
    "command_ack_unknown": "a display answered a command that is not its own, or none",
    "command_proven": "what a display does, or does not do, decided a command",
    "command_ended": "a command's time was over, or nobody is left to answer it",
}
"""Event -> what its log line says."""


@dataclass(frozen=True)
class AckReport:
    """What a batch of ACKs did. The rest were repeats of what is known."""

    moved: frozenset[str]
    """Commands that changed their state."""
    late: frozenset[str]
    """Commands given up before, whose result is now kept beside."""
    unknown: tuple[Ack, ...]
    """ACKs of ids that were never issued."""
    foreign: tuple[Ack, ...]
    """ACKs of commands of another client: refused."""
    corrected: frozenset[str] = frozenset()
    """Clients that run another boot, or start of the player, than their last stored heartbeat told."""
    news: tuple[News, ...] = field(default=(), compare=False)
    """For the log: the ACKs that changed something, came late, or mean nothing here."""


@dataclass(frozen=True)
class EvidenceReport:
    """Ids of the commands that a batch of heartbeats proved."""

    succeeded: frozenset[str]
    confirmed: frozenset[str]
    """Successes by ACK that are now known by both."""
    overtaken: frozenset[str]
    """Reboots that nobody had and that nobody needs any more."""
    news: tuple[News, ...] = field(default=(), compare=False)
    """For the log."""


@dataclass(frozen=True)
class SettledReport:
    """How many open commands ended by what is known of their displays."""

    proven: int
    disproved: int
    overtaken: int
    news: tuple[News, ...] = field(default=(), compare=False)
    """For the log."""


def log_news(news: Iterable[News]) -> None:
    """A log line each. After the commit: before it nothing has happened."""
    for one in news:
        event(
            one.event,
            WORDS[one.event],
            command_id=one.command_id,
            client_uuid=one.client_uuid,
            trace_id=trace_id(one.traceparent),
            state=one.state,
            reason=one.reason,
        )


def record_acks(connection: Connection, now: datetime, acks: Sequence[Ack], timings: Timings) -> AckReport:
    """Take ACKs in any order, repeated or late; each command ends in the highest state that an ACK named.

    1. ACKs of unknown ids, and of other clients' commands, are set apart.
    2. Repeats are dropped; the clients of the rest are locked in the order of their uuids.
    3. received, running, results: one guarded UPDATE each; the first word of a display raises its lockout again.
    4. A command that was refused from another boot than it was made for shows which boot the display runs.
    5. A result that came too late is kept beside the command. A result of a command that ended by evidence confirms
       it, and adds its reason.
    """
    acks = [_scrubbed(ack) for ack in acks]
    known = store.known(connection, {ack.command_id for ack in acks})
    unknown = tuple(ack for ack in acks if ack.command_id not in known)
    foreign = tuple(ack for ack in acks if ack.command_id in known and not _own(ack, known))
    fresh = [ack for ack in acks if _own(ack, known) and may_matter(ack, known[ack.command_id])]
    if not fresh:
        return AckReport(frozenset(), frozenset(), unknown, foreign, news=_strange(unknown, foreign))
    commands.lock_clients(connection, {ack.client_uuid for ack in fresh})
    received = _receive(connection, now, RECEIVED, fresh, timings) | _receive(connection, now, RUNNING, fresh, timings)
    results = first_result_each(fresh)
    finished, late = _finish(connection, now, results)
    refused = [k for k in results if k.command_id in finished and k.state is CommandState.REJECTED and k.boot_id]
    corrected = store.correct_boots(connection, refused) if refused else []
    changed = received | finished | late
    news = _news("command_acked", [ack for ack in fresh if ack.command_id in changed], known)
    news += _strange(unknown, foreign)
    return AckReport(frozenset(received | finished), frozenset(late), unknown, foreign, frozenset(corrected), news)


def _strange(unknown: Sequence[Ack], foreign: Sequence[Ack]) -> tuple[News, ...]:
    """Lines for some of the ACKs that mean nothing here: a display that sends them without end fills no log."""
    return _news("command_ack_unknown", (*unknown, *foreign)[:STRANGE_TOLD])


def _news(name: str, acks: Iterable[Ack], known: Mapping[str, Known] | None = None) -> tuple[News, ...]:
    """A line for each ACK, with the trace of its command; the display's word for it where we know no such command."""

    def trace(ack: Ack) -> str | None:
        return known[ack.command_id].traceparent if known else ack.traceparent

    return tuple(News(name, k.command_id, k.client_uuid, k.state.value, k.reason, trace(k)) for k in acks)


def _own(ack: Ack, known: Mapping[str, Known]) -> bool:
    return ack.command_id in known and known[ack.command_id].client_uuid == ack.client_uuid


def _receive(connection: Connection, now: datetime, move: Move, acks: Sequence[Ack], timings: Timings) -> set[str]:
    """Move commands to `received` or `running` by the ACKs with that state; the ids that moved."""
    matching = [ack for ack in acks if ack.state is move.to]
    if not matching:
        return set()
    moved = store.receive(connection, now, move, matching, timings.result)
    first_words = [one.id for one in moved if one.first_word]
    if first_words:
        commands.raise_lockouts(connection, first_words, now + timings.lockout)
    return {one.id for one in moved}


def _finish(connection: Connection, now: datetime, results: Sequence[Ack]) -> tuple[set[str], set[str]]:
    """The ids that these results ended, and the ids that a late result was kept for."""
    finished = set(store.finish(connection, now, results)) if results else set()
    rest = [ack for ack in results if ack.command_id not in finished]
    if not rest:
        return finished, set()
    store.confirm_by_ack(connection, rest)
    explained = [ack for ack in rest if ack.reason is not None]
    if explained:
        store.keep_reasons(connection, explained)
    return finished, set(store.keep_late(connection, now, rest))


def _scrubbed(ack: Ack) -> Ack:
    return replace(
        ack,
        command_id=scrub(ack.command_id),
        reason=scrub(ack.reason)[:LONGEST_REASON] if ack.reason else None,
        boot_id=scrub(ack.boot_id) if ack.boot_id else None,
        app_instance=scrub(ack.app_instance) if ack.app_instance else None,
    )


def record_boot_evidence(connection: Connection, now: datetime, sightings: Sequence[Sighting]) -> EvidenceReport:
    """Take heartbeats with a new boot or a new start of the player: they prove a reboot or restart without an ACK.

    A reboot that is provably nobody's is cancelled as overtaken and gives its lockout back.
    """
    if not sightings:
        return EvidenceReport(frozenset(), frozenset(), frozenset())
    commands.lock_clients(connection, {sighting.client_uuid for sighting in sightings})
    overtaken = store.cancel_overtaken(connection, now, sightings)
    succeeded = store.succeed_by_evidence(connection, now, sightings)
    confirmed = store.confirm_by_evidence(connection, now, sightings)
    cancelled = [one.id for one in overtaken]
    news = news_of("command_proven", connection, [*succeeded, *confirmed, *cancelled])
    return EvidenceReport(frozenset(succeeded), frozenset(confirmed), frozenset(cancelled), news)


def news_of(name: str, connection: Connection, command_ids: Sequence[str]) -> tuple[News, ...]:
    """A line for each of these commands as it stands now."""
    commands_now = store.traced(connection, command_ids) if command_ids else []
    return tuple(News(name, k.id, k.client_uuid, k.state, k.outcome_reason, k.traceparent) for k in commands_now)


def settle_by_evidence(connection: Connection, now: datetime) -> SettledReport:
    """End the open commands whose outcome is proven without another ACK.

    1. A new boot or a new start that no sighting showed: it was stored while the command was being made.
    2. A shutdown that was received, and the display has left or fallen silent.
    3. A reboot that was begun, and the heartbeats after three minutes still come from the boot before.
    """
    concerned = store.clients_with_evidence(connection, now)
    if not concerned:
        return SettledReport(0, 0, 0)
    commands.lock_clients(connection, concerned)
    overtaken = store.cancel_overtaken(connection, now, None)
    proven = store.succeed_by_evidence(connection, now, None) + store.succeed_by_silence(connection, now)
    disproved = [one.id for one in store.disprove_reboots(connection, now)]
    ended = [*proven, *disproved, *(one.id for one in overtaken)]
    news = news_of("command_proven", connection, ended)
    return SettledReport(len(proven), len(disproved), len(overtaken), news)
