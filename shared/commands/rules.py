"""The life of a command: one table of moves, and every decision about it that needs no database."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from shared.errors import ClientNotFound, CommandInFlight, CommandLockedOut, NotCapable, Refused, ServiceError
from shared.vocabulary import (
    COMMAND_RANKS,
    TERMINAL_RANK,
    CommandAction,
    CommandSource,
    CommandState,
    ConfirmedBy,
    PublishAnswer,
)

LEASE: Final = timedelta(seconds=20)  # how long a publisher holds what it claimed
REPEAT_EVERY: Final = timedelta(seconds=30)  # until `received`
FIRST_BACK_OFF: Final = timedelta(seconds=1)
LONGEST_BACK_OFF: Final = timedelta(seconds=15)  # a quarter of the shortest time to live
REBOOT_SHOWS_WITHIN: Final = timedelta(seconds=180)  # after `running`; a heartbeat of the same boot then disproves it
SHORTEST_TTL: Final = timedelta(seconds=10)
LONGEST_TTL: Final = timedelta(days=1)
LOCKING: Final = (CommandAction.RESTART_APP, CommandAction.REBOOT_HOST)
"""Actions that raise the client's lockout and that it holds back."""
RESULTS: Final = (CommandState.SUCCEEDED, CommandState.FAILED, CommandState.REJECTED)
ACK_STATES: Final = (CommandState.RECEIVED, CommandState.RUNNING, *RESULTS)
"""What a display may say in an ACK."""
TOO_LATE: Final = (CommandState.EXPIRED, CommandState.TIMED_OUT)
"""States beside which a late result is kept."""

NEVER_PUBLISHED: Final = "never_published"
NO_SUBSCRIBER: Final = "no_subscriber"
NO_ACK: Final = "no_ack"
NO_RESULT: Final = "no_result"
PUBLISH_DENIED: Final = "publish_denied"
ALREADY_REBOOTED: Final = "already_rebooted"
REBOOT_DID_NOT_HAPPEN: Final = "reboot_did_not_happen"
CLIENT_DELETED: Final = "client_deleted"
LOGIN_REVOKED: Final = "login_revoked"


@dataclass(frozen=True)
class Move:
    """One way into a state: legal from every rank in [`lowest`, `below`)."""

    to: CommandState
    below: int
    lowest: int = 0

    @property
    def sources(self) -> frozenset[CommandState]:
        """The states that it may leave."""
        return frozenset(state for state, rank in COMMAND_RANKS.items() if self.lowest <= rank < self.below)


def _up_to(state: CommandState) -> Move:
    """A move that anything below its target's own rank may make: skipping is legal."""
    return Move(state, below=COMMAND_RANKS[state])


SENT: Final = _up_to(CommandState.SENT)  # PUBACK 0x00
RECEIVED: Final = _up_to(CommandState.RECEIVED)  # ACK
RUNNING: Final = _up_to(CommandState.RUNNING)  # ACK
SUCCEEDED: Final = _up_to(CommandState.SUCCEEDED)  # ACK or evidence
FAILED: Final = _up_to(CommandState.FAILED)  # ACK
REJECTED: Final = _up_to(CommandState.REJECTED)  # ACK
DENIED: Final = Move(CommandState.FAILED, below=COMMAND_RANKS[CommandState.SENT])  # PUBACK 0x87
DISPROVED: Final = Move(  # evidence: the machine still runs the boot that was to end
    CommandState.FAILED, below=TERMINAL_RANK, lowest=COMMAND_RANKS[CommandState.RUNNING]
)
EXPIRED: Final = Move(CommandState.EXPIRED, below=COMMAND_RANKS[CommandState.RECEIVED])  # the tick
TIMED_OUT: Final = Move(  # the tick
    CommandState.TIMED_OUT, below=TERMINAL_RANK, lowest=COMMAND_RANKS[CommandState.RECEIVED]
)
CANCELLED: Final = Move(CommandState.CANCELLED, below=COMMAND_RANKS[CommandState.SENT])  # API, recovery's 0x10
MOVES: Final = (SENT, RECEIVED, RUNNING, SUCCEEDED, FAILED, REJECTED, DENIED, DISPROVED, EXPIRED, TIMED_OUT, CANCELLED)
BY_ACK: Final = {move.to: move for move in (RECEIVED, RUNNING, SUCCEEDED, FAILED, REJECTED)}


@dataclass(frozen=True)
class Timings:
    """How long things may take, from the settings; every command is judged by one set of them."""

    ttl: Mapping[CommandAction, timedelta]
    """Time to live where the request names none."""
    result: Mapping[CommandAction, timedelta]
    """Time for a result after `received`."""
    lockout: timedelta
    """How long a client is spared after a restart or reboot."""


@dataclass(frozen=True)
class CommandRequest:
    """What somebody asks for. `reason` is shown to people; `requested_by` names the caller."""

    client_uuid: str
    action: CommandAction
    requested_by: str
    reason: str = ""
    source: CommandSource = CommandSource.OPERATOR
    ttl: timedelta | None = None
    override_lockout: bool = False
    idempotency_key: str | None = None
    traceparent: str | None = field(default=None, compare=False)

    def hash(self) -> str:
        """SHA-256 of what was asked for, in hexadecimal: the same key must come with the same request."""
        asked = [
            self.client_uuid,
            self.action,
            self.reason,
            self.ttl.total_seconds() if self.ttl else None,
            self.override_lockout,
        ]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


@dataclass(frozen=True)
class Ack:
    """A display's answer about a command. `client_uuid` is the topic's, which the broker has proven."""

    client_uuid: str
    command_id: str
    state: CommandState
    """One of ACK_STATES."""
    reason: str | None = None
    traceparent: str | None = None
    """As the display says it; the command's own counts."""
    boot_id: str | None = None
    """The boot that it answers from; only ACKs of the topic name it."""
    app_instance: str | None = None


@dataclass(frozen=True)
class News:
    """The fields of a log line about a command, written after the commit."""

    event: str
    command_id: str
    client_uuid: str
    state: str
    reason: str | None
    traceparent: str | None


@dataclass(frozen=True)
class Sighting:
    """What a heartbeat said of the machine's boot and the player's start; None where it said nothing."""

    client_uuid: str
    boot_id: str | None
    app_instance: str | None


@dataclass(frozen=True)
class Claimed:
    """A command that this publisher holds until `lease_until`."""

    id: str
    client_uuid: str
    payload: bytes
    expires_in: timedelta
    """Counted from the claim."""
    lease_until: datetime
    attempts: int
    """This one included."""
    traceparent: str | None = None


@dataclass(frozen=True)
class Attempt:
    """How publishing one claimed command went."""

    command_id: str
    lease_until: datetime
    attempts: int
    answer: int | None
    """Reason code of the PUBACK; None when there was none."""
    may_have_left: bool
    """False: it provably never left this service, or the broker refused it."""


@dataclass(frozen=True)
class Target:
    """What decides whether a client may get a command now."""

    uuid: str
    capabilities: list[str] | None
    """What its display says that it can do; None: nothing was said."""
    lockout_until: datetime | None
    open_command_id: str | None


@dataclass(frozen=True)
class DueCommand:
    """A command as its publisher needs it."""

    id: str
    client_uuid: str
    action: CommandAction
    if_boot_id: str | None
    if_app_instance: str | None
    created_at: datetime
    expires_at: datetime
    publish_lease_until: datetime
    publish_attempts: int
    """The one that begins now included."""
    traceparent: str | None


@dataclass(frozen=True)
class Known:
    """The facts that decide whether an ACK of a command could matter."""

    id: str
    client_uuid: str
    state: CommandState
    late_state: CommandState | None
    confirmed_by: ConfirmedBy | None
    outcome_reason: str | None
    traceparent: str | None


def lifetime(request: CommandRequest, timings: Timings) -> timedelta:
    """The time to live of the command asked for. Raises Refused outside 10 s to 24 h."""
    ttl = timings.ttl[request.action] if request.ttl is None else request.ttl
    if not SHORTEST_TTL <= ttl <= LONGEST_TTL:
        raise Refused("ttl_seconds must be 10 to 86400.")
    return ttl


def refusal(request: CommandRequest, target: Target | None, now: datetime) -> ServiceError | None:
    """What stands against this command, the first that applies; None when nothing does.

    `target` None: there is no such client.
    """
    if target is None:
        return ClientNotFound()
    if target.open_command_id is not None:
        return CommandInFlight(command_id=target.open_command_id)
    if target.capabilities is not None and request.action not in target.capabilities:
        return NotCapable(action=request.action.value)
    until = target.lockout_until
    if respects_lockout(request) and until is not None and until > now:
        return CommandLockedOut(lockout_until=until)
    return None


def respects_lockout(request: CommandRequest) -> bool:
    """Whether a standing lockout refuses this request."""
    return request.action in LOCKING and not request.override_lockout


def payload(due: DueCommand) -> bytes:
    """The message that the display gets: its preconditions are null where nothing was known."""
    body = {
        "v": 1,
        "id": due.id,
        "action": due.action,
        "if_boot_id": due.if_boot_id,
        "if_app_instance": due.if_app_instance,
        "expires_at": due.expires_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "traceparent": due.traceparent,
    }
    return json.dumps(body, separators=(",", ":")).encode()


def next_publish_after(attempt: Attempt, jitter: float) -> timedelta:
    """How long to wait before this command is published again; `jitter` is 0 to 1, at random.

    Answered ones are repeated until `received`; otherwise the wait doubles with each attempt.
    """
    if attempt.answer is not None and attempt.answer < 0x80:
        return REPEAT_EVERY
    doubled: timedelta = FIRST_BACK_OFF * 2 ** min(attempt.attempts - 1, 10)
    return min(doubled, LONGEST_BACK_OFF) * (0.5 + jitter)


def is_accepted(answer: int | None) -> bool:
    """Did the broker take it for somebody?"""
    return answer is not None and answer < 0x80 and answer != PublishAnswer.NO_SUBSCRIBER


def may_matter(ack: Ack, known: Known) -> bool:
    """Could this ACK still change the command as it was just read? A guarded UPDATE decides."""
    if known.state in TOO_LATE:
        return ack.state in RESULTS and known.late_state is None
    if known.state is CommandState.SUCCEEDED:
        return ack.state is CommandState.SUCCEEDED and known.confirmed_by is ConfirmedBy.EVIDENCE
    if known.state in RESULTS and ack.state is known.state:
        return ack.reason is not None and known.outcome_reason is None
    return known.state in BY_ACK[ack.state].sources


def first_result_each(acks: Iterable[Ack]) -> list[Ack]:
    """One result a command: the first that came, or the same with its reason where that came without one."""
    first: dict[str, Ack] = {}
    for ack in acks:
        if ack.state in RESULTS:
            kept = first.setdefault(ack.command_id, ack)
            if kept.state is ack.state and kept.reason is None:
                first[ack.command_id] = ack
    return list(first.values())
