"""Use case of ACKs; the bridge passes them in batches."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from shared.commands import store as commands_store
from shared.commands.acks import store
from shared.commands.rules import (
    RECEIVED,
    RUNNING,
    Ack,
    AckedCommand,
    Move,
    News,
    Timings,
    as_proof_allows,
    comes_too_soon,
    first_result_each,
    may_matter,
)
from shared.postgres.door import scrub
from shared.vocabulary import CommandState

STRANGE_TOLD = 10  # log lines of a batch
LONGEST_REASON = 500  # characters of a display's reason that are kept


class AckReport(Struct, frozen=True):
    """The result of a batch of ACKs. All other ACKs were repeats."""

    moved: frozenset[str]
    """Ids of the commands whose state changed."""
    late: frozenset[str]
    """Ids of expired or timed-out commands that got a late result."""
    unknown: tuple[Ack, ...]
    """ACKs of ids that this service never issued."""
    foreign: tuple[Ack, ...]
    """ACKs of another client's commands: refused."""
    corrected: frozenset[str] = frozenset()
    """Clients whose boot or start of the player differs from their stored heartbeat."""
    postponed: frozenset[str] = frozenset()
    """Clients whose report repeats a success before its ACKs came: weigh their next report, too."""
    news: tuple[News, ...] = ()
    """For the log: ACKs that changed a command, came late, or name no command of this client."""


def record_acks(connection: Connection, now: datetime, acks: Sequence[Ack], timings: Timings) -> AckReport:
    """Store ACKs in any order, repeated or late; each command ends in the highest state of its ACKs.

    1. Separate ACKs of unknown ids and of other clients' commands.
    2. Drop repeats; lock the clients of the rest in the order of their uuids. A success whose effect reports show
       counts as running, and waits when a report repeats it while its ACKs may be under way.
    3. received, running, results: one guarded UPDATE each. A display's first ACK starts its lockout again.
    4. A refusal from another boot than the command's shows which boot the display runs: correct the stored one.
    5. Keep a late result beside its command. A result of a command that ended by a proof confirms it and adds its
       reason.
    """
    acks = [_scrubbed(ack) for ack in acks]
    commands = store.acked(connection, {ack.command_id for ack in acks})
    unknown = tuple(ack for ack in acks if ack.command_id not in commands)
    foreign = tuple(ack for ack in acks if ack.command_id in commands and not _own(ack, commands))
    own = [(ack, commands[ack.command_id]) for ack in acks if _own(ack, commands)]
    due = [(ack, command) for ack, command in own if not comes_too_soon(ack, command, now)]
    postponed = frozenset(ack.client_uuid for ack, command in own if comes_too_soon(ack, command, now))
    counted = [(as_proof_allows(ack, command), command) for ack, command in due]
    fresh = [ack for ack, command in counted if may_matter(ack, command)]
    if not fresh:
        news = _strange(unknown, foreign)
        return AckReport(frozenset(), frozenset(), unknown, foreign, postponed=postponed, news=news)
    commands_store.lock_clients(connection, {ack.client_uuid for ack in fresh})
    received = _receive(connection, now, RECEIVED, fresh, timings) | _receive(connection, now, RUNNING, fresh, timings)
    results = first_result_each(fresh)
    finished, late = _finish(connection, now, results)
    refused = [k for k in results if k.command_id in finished and k.state is CommandState.REJECTED and k.boot_id]
    corrected = store.correct_boots(connection, refused) if refused else []
    changed = received | finished | late
    news = _news("command_acked", [ack for ack in fresh if ack.command_id in changed], commands)
    news += _strange(unknown, foreign)
    moved = frozenset(received | finished)
    return AckReport(moved, frozenset(late), unknown, foreign, frozenset(corrected), postponed, news)


def _strange(unknown: Sequence[Ack], foreign: Sequence[Ack]) -> tuple[News, ...]:
    """Log lines for at most STRANGE_TOLD unknown or foreign ACKs, so that a broken display cannot fill the log."""
    return _news("command_ack_unknown", (*unknown, *foreign)[:STRANGE_TOLD])


def _news(name: str, acks: Iterable[Ack], commands: Mapping[str, AckedCommand] | None = None) -> tuple[News, ...]:
    """A log line for each ACK, with the trace of its command; of an unknown command with the ACK's own trace."""

    def trace(ack: Ack) -> str | None:
        return commands[ack.command_id].traceparent if commands else ack.traceparent

    return tuple(News(name, k.command_id, k.client_uuid, k.state.value, k.reason, trace(k)) for k in acks)


def _own(ack: Ack, commands: Mapping[str, AckedCommand]) -> bool:
    return ack.command_id in commands and commands[ack.command_id].client_uuid == ack.client_uuid


def _receive(connection: Connection, now: datetime, move: Move, acks: Sequence[Ack], timings: Timings) -> set[str]:
    """Move commands to `received` or `running` by ACKs with that state. Returns the ids that moved.

    Of several ACKs of a command one that names its boot counts.
    """
    matching = {ack.command_id: ack for ack in sorted(acks, key=_names_a_boot) if ack.state is move.to}
    if not matching:
        return set()
    moved = store.receive(connection, now, move, [*matching.values()], timings.result)
    first_words = [one.id for one in moved if one.first_word]
    if first_words:
        commands_store.raise_lockouts(connection, first_words, now + timings.lockout)
    return {one.id for one in moved}


def _names_a_boot(ack: Ack) -> bool:
    return ack.boot_id is not None or ack.app_instance is not None


def _finish(connection: Connection, now: datetime, results: Sequence[Ack]) -> tuple[set[str], set[str]]:
    """Store results. Returns the ids that ended, and the ids that got a late result."""
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
