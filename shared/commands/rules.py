"""Rules of commands: the table of moves, and all decisions that need no database."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from shared.errors import ClientNotFound, CommandInFlight, CommandLockedOut, NotCapable, Refused, ServiceError
from shared.vocabulary import (
    COMMAND_RANKS,
    POWER_ACTIONS,
    REFUSED_FROM,
    SCREEN_ACTIONS,
    TERMINAL_RANK,
    CommandAction,
    CommandSource,
    CommandState,
    ConfirmedBy,
    PublishAnswer,
)
from shared.words.facts import By
from shared.words.sentences import Sentence, as_given, sentence

LEASE: Final = timedelta(seconds=20)  # how long a publisher holds a claimed command
REPEAT_EVERY: Final = timedelta(seconds=30)  # until `received`
FIRST_BACK_OFF: Final = timedelta(seconds=1)
LONGEST_BACK_OFF: Final = timedelta(seconds=15)  # a quarter of the shortest time to live
REBOOT_SHOWS_WITHIN: Final = timedelta(seconds=180)  # after `running`; then a heartbeat of the old boot disproves it
SCREEN_SHOWS_WITHIN: Final = timedelta(seconds=30)  # after `running`; then a report of the old screen disproves it
ACKS_UNDER_WAY: Final = timedelta(seconds=20)  # after a display connected, or after the command was sent
SHORTEST_TTL: Final = timedelta(seconds=10)
LONGEST_TTL: Final = timedelta(days=1)
USUAL_TTL: Final[Mapping[CommandAction, timedelta]] = {  # unless the caller names one: a late reboot is worse than none
    CommandAction.RESTART_APP: timedelta(seconds=60),
    CommandAction.REBOOT_HOST: timedelta(seconds=120),
    CommandAction.SHUTDOWN_HOST: timedelta(seconds=120),
    CommandAction.SCREENSHOT: timedelta(seconds=30),
    CommandAction.SCREEN_ON: timedelta(seconds=60),
    CommandAction.SCREEN_OFF: timedelta(seconds=60),
}
RESULT_WITHIN: Final[Mapping[CommandAction, timedelta]] = {  # after `received`
    CommandAction.RESTART_APP: timedelta(seconds=120),
    CommandAction.REBOOT_HOST: timedelta(seconds=600),
    CommandAction.SHUTDOWN_HOST: timedelta(seconds=300),
    CommandAction.SCREENSHOT: timedelta(seconds=30),
    CommandAction.SCREEN_ON: timedelta(seconds=180),
    CommandAction.SCREEN_OFF: timedelta(seconds=180),
}
LOCKING: Final = (CommandAction.RESTART_APP, CommandAction.REBOOT_HOST)
"""Actions that start a lockout and that a lockout refuses."""
RESULTS: Final = (CommandState.SUCCEEDED, CommandState.FAILED, CommandState.REJECTED)
ACK_STATES: Final = (CommandState.RECEIVED, CommandState.RUNNING, *RESULTS)
"""The states of an ACK."""
TOO_LATE: Final = (CommandState.EXPIRED, CommandState.TIMED_OUT)
"""States that keep a late result."""

NEVER_PUBLISHED: Final = "never_published"
NO_SUBSCRIBER: Final = "no_subscriber"
NO_ACK: Final = "no_ack"
NO_RESULT: Final = "no_result"
PUBLISH_DENIED: Final = "publish_denied"
ALREADY_REBOOTED: Final = "already_rebooted"
REBOOT_DID_NOT_HAPPEN: Final = "reboot_did_not_happen"
SCREEN_DID_NOT_SWITCH: Final = "screen_did_not_switch"
NO_PICTURE: Final = "no_picture"  # the display says that it sent one
CLIENT_DELETED: Final = "client_deleted"
LOGIN_REVOKED: Final = "login_revoked"
RIGHTS_LOST: Final = "rights_lost"  # whoever asked for it may not send it any more, or not to this display
OutcomeCause = StrEnum(
    "OutcomeCause",
    "NEVER_PUBLISHED NO_SUBSCRIBER NO_ACK NO_RESULT PUBLISH_DENIED ALREADY_REBOOTED REBOOT_DID_NOT_HAPPEN"
    " SCREEN_DID_NOT_SWITCH NO_PICTURE CLIENT_DELETED LOGIN_REVOKED RIGHTS_LOST SCREEN_DOES_NOT_SAY"
    " PRECONDITION_FAILED NO_JOURNAL UNKNOWN_ACTION NOT_CAPABLE UNSUPPORTED_VERSION BUSY EXPIRED INTERRUPTED",
)
"""Those, and what displays answer: each has words for people."""


class Move(Struct, frozen=True):
    """One way into a state: legal from every rank in [`lowest`, `below`)."""

    to: CommandState
    below: int
    lowest: int = 0

    @property
    def sources(self) -> frozenset[CommandState]:
        """The states in which the move may start."""
        return frozenset(state for state, rank in COMMAND_RANKS.items() if self.lowest <= rank < self.below)


def _up_to(state: CommandState) -> Move:
    """A move from every state of a lower rank: states may be skipped."""
    return Move(state, below=COMMAND_RANKS[state])


SENT: Final = _up_to(CommandState.SENT)  # PUBACK 0x00
RECEIVED: Final = _up_to(CommandState.RECEIVED)  # ACK
RUNNING: Final = _up_to(CommandState.RUNNING)  # ACK
SUCCEEDED: Final = _up_to(CommandState.SUCCEEDED)  # ACK or evidence
FAILED: Final = _up_to(CommandState.FAILED)  # ACK
REJECTED: Final = _up_to(CommandState.REJECTED)  # ACK
DENIED: Final = Move(CommandState.FAILED, below=COMMAND_RANKS[CommandState.SENT])  # PUBACK 0x87
DISPROVED: Final = Move(  # evidence: the machine still runs the old boot, the screen is as before
    CommandState.FAILED, below=TERMINAL_RANK, lowest=COMMAND_RANKS[CommandState.RUNNING]
)
EXPIRED: Final = Move(CommandState.EXPIRED, below=COMMAND_RANKS[CommandState.RECEIVED])  # the tick
TIMED_OUT: Final = Move(  # the tick
    CommandState.TIMED_OUT, below=TERMINAL_RANK, lowest=COMMAND_RANKS[CommandState.RECEIVED]
)
CANCELLED: Final = Move(CommandState.CANCELLED, below=COMMAND_RANKS[CommandState.SENT])  # API, recovery's 0x10
MOVES: Final = (SENT, RECEIVED, RUNNING, SUCCEEDED, FAILED, REJECTED, DENIED, DISPROVED, EXPIRED, TIMED_OUT, CANCELLED)
BY_ACK: Final = {move.to: move for move in (RECEIVED, RUNNING, SUCCEEDED, FAILED, REJECTED)}


class Timings(Struct, frozen=True):
    """The times of commands."""

    ttl: Mapping[CommandAction, timedelta]
    """Default time to live."""
    result: Mapping[CommandAction, timedelta]
    """Time for a result after `received`."""
    lockout: timedelta
    """Time after a restart or reboot without another one: COMMAND_LOCKOUT_SECONDS."""


class CommandRequest(Struct, frozen=True):
    """A request for a command. `reason`: for people; `requested_by`: the caller."""

    client_uuid: str
    action: CommandAction
    requested_by: str
    reason: str = ""
    source: CommandSource = CommandSource.OPERATOR
    ttl: timedelta | None = None
    override_lockout: bool = False
    traceparent: str | None = None
    id: str | None = None
    """The id of the command; None: a new one."""
    why: Sentence | None = None
    """The reason, where the service asks."""


class Ack(Struct, frozen=True):
    """A display's ACK of a command. `client_uuid` is from the topic, which the broker has checked."""

    client_uuid: str
    command_id: str
    state: CommandState
    """One of ACK_STATES."""
    reason: str | None = None
    traceparent: str | None = None
    """The display's value; the command's own wins."""
    boot_id: str | None = None
    """The boot that the ACK comes from; only ACKs of the topic have it."""
    app_instance: str | None = None


class News(Struct, frozen=True):
    """The fields of a log line about a command, written after the commit."""

    event: str
    command_id: str
    client_uuid: str
    state: str
    reason: str | None
    traceparent: str | None


class Sighting(Struct, frozen=True):
    """The boot_id and app_instance of a heartbeat; None: missing."""

    client_uuid: str
    boot_id: str | None
    app_instance: str | None


class Claimed(Struct, frozen=True):
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


class Attempt(Struct, frozen=True):
    """The result of publishing one claimed command."""

    command_id: str
    lease_until: datetime
    attempts: int
    answer: int | None
    """Reason code of the PUBACK; None: no PUBACK came."""
    may_have_left: bool
    """False: the command provably never left this service, or the broker refused it."""


class Target(Struct, frozen=True):
    """The facts that decide whether a client may get a command now."""

    uuid: str
    capabilities: list[str] | None
    """The actions that the display supports; None: not reported."""
    lockout_until: datetime | None
    open_command_id: str | None
    """The open command that lets no other begin; a screenshot never does."""
    open_screenshot_id: str | None


class DueCommand(Struct, frozen=True):
    """The fields of a command that a publisher needs."""

    id: str
    client_uuid: str
    action: CommandAction
    if_boot_id: str | None
    if_app_instance: str | None
    created_at: datetime
    expires_at: datetime
    publish_lease_until: datetime
    publish_attempts: int
    """With the attempt that begins now."""
    traceparent: str | None


class AckedCommand(Struct, frozen=True):
    """The facts that decide whether an ACK of a command could matter."""

    id: str
    client_uuid: str
    state: CommandState
    late_state: CommandState | None
    confirmed_by: ConfirmedBy | None
    outcome_reason: str | None
    traceparent: str | None
    action: str
    if_boot_id: str | None = None
    if_app_instance: str | None = None
    due_since: datetime | None = None
    """Since when its ACKs could have come: the command was sent and the display was connected. None: not known."""


def lifetime(request: CommandRequest, timings: Timings) -> timedelta:
    """The time to live of the requested command. Raises Refused outside 10 s to 24 h."""
    ttl = timings.ttl[request.action] if request.ttl is None else request.ttl
    if not SHORTEST_TTL <= ttl <= LONGEST_TTL:
        raise Refused(
            "ttl_out_of_range",
            facts={"least": int(SHORTEST_TTL.total_seconds()), "most": int(LONGEST_TTL.total_seconds())},
        )
    return ttl


def refusal(request: CommandRequest, target: Target | None, now: datetime) -> ServiceError | None:
    """The first reason against this command; None without one.

    `target` None: there is no such client.
    """
    if target is None:
        return ClientNotFound()
    is_look = request.action is CommandAction.SCREENSHOT
    in_the_way = target.open_screenshot_id if is_look else target.open_command_id
    if in_the_way is not None:
        return CommandInFlight(command_id=in_the_way)
    if not is_able(target.capabilities, request.action):
        return NotCapable(action=request.action.value)
    until = target.lockout_until
    if respects_lockout(request) and until is not None and until > now:
        return CommandLockedOut(lockout_until=until)
    return None


def is_able(capabilities: Collection[str] | None, action: CommandAction) -> bool:
    """Whether a display with these capabilities supports the action; None: it declares none."""
    return action in (POWER_ACTIONS if capabilities is None else capabilities)


def respects_lockout(request: CommandRequest) -> bool:
    """Whether a lockout refuses this request."""
    return request.action in LOCKING and not request.override_lockout


def payload(due: DueCommand) -> bytes:
    """The message for the display. A precondition is null when its value was unknown."""
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

    After an answer the command is repeated at a fixed interval until `received`; without one the wait doubles.
    """
    if attempt.answer is not None and attempt.answer < REFUSED_FROM:
        return REPEAT_EVERY
    doubled: timedelta = FIRST_BACK_OFF * 2 ** min(attempt.attempts - 1, 10)
    return min(doubled, LONGEST_BACK_OFF) * (0.5 + jitter)


def is_accepted(answer: int | None) -> bool:
    """Whether the broker accepted the message for a subscriber."""
    return answer is not None and answer < REFUSED_FROM and answer != PublishAnswer.NO_SUBSCRIBER


def may_matter(ack: Ack, command: AckedCommand) -> bool:
    """Whether this ACK may still change the command as it was read; the guarded UPDATE decides."""
    if command.state in TOO_LATE:
        return ack.state in RESULTS and command.late_state is None
    if command.state is CommandState.SUCCEEDED:
        return ack.state is CommandState.SUCCEEDED and command.confirmed_by is ConfirmedBy.EVIDENCE
    if command.state in RESULTS and ack.state is command.state:
        return ack.reason is not None and command.outcome_reason is None
    return command.state in BY_ACK[ack.state].sources


def as_proof_allows(ack: Ack, command: AckedCommand) -> Ack:
    """The ACK as it counts: `succeeded` only as `running` where a report will show the effect.

    Its boot and player are dropped: the command may have begun in others.
    """
    is_word = ack.state is CommandState.SUCCEEDED and shows_its_effect(command)
    if is_word and COMMAND_RANKS[command.state] < TERMINAL_RANK:
        return replace(ack, state=CommandState.RUNNING, boot_id=None, app_instance=None)
    return ack


def comes_too_soon(ack: Ack, command: AckedCommand, now: datetime) -> bool:
    """Whether a report repeats a success whose ACKs may still be under way. They tell in which boot the command began.

    ACKs that have not come in ACKS_UNDER_WAY are lost: then the report counts.
    """
    is_repeated = ack.boot_id is None and ack.app_instance is None
    unheard = COMMAND_RANKS[command.state] < COMMAND_RANKS[CommandState.RECEIVED]
    if not (is_repeated and unheard and ack.state is CommandState.SUCCEEDED and shows_its_effect(command)):
        return False
    return command.due_since is None or now - command.due_since < ACKS_UNDER_WAY


def shows_its_effect(command: AckedCommand) -> bool:
    """Whether a report or a silence will show what the command did: the display names its boots and player starts."""
    if command.action == CommandAction.RESTART_APP:
        return command.if_app_instance is not None
    if command.action in {CommandAction.REBOOT_HOST, CommandAction.SHUTDOWN_HOST}:
        return command.if_boot_id is not None
    return command.action in SCREEN_ACTIONS


def first_result_each(acks: Iterable[Ack]) -> list[Ack]:
    """One result for each command: the first, or the same result with a reason if the first has none."""
    first: dict[str, Ack] = {}
    for ack in acks:
        if ack.state in RESULTS:
            kept = first.setdefault(ack.command_id, ack)
            if kept.state is ack.state and kept.reason is None:
                first[ack.command_id] = ack
    return list(first.values())


@sentence
def command_cancelled(*, by: By) -> Sentence: ...
@sentence
def command_ended(*, by: By, reason: str) -> Sentence: ...
@sentence
def command_cause(*, cause: OutcomeCause) -> Sentence: ...


def cancelled(by: str) -> str:
    """The `outcome_reason` of a command that somebody cancelled."""
    return f"cancelled by {by}"


def ended(by: str, reason: str) -> str:
    """The `outcome_reason` of a command that somebody ended although a display may have it."""
    return f"ended by {by}: {reason}"


_CANCELLED: Final = re.compile(r"cancelled by (?P<by>.+)", re.DOTALL)
_ENDED: Final = re.compile(r"ended by (?P<by>token:.*?#[0-9a-f]{12}|\S+): (?P<reason>.*)", re.DOTALL)
_BY_PERSON: Final[Mapping[CommandState, tuple[re.Pattern[str], Callable[..., Sentence]]]] = {
    CommandState.CANCELLED: (_CANCELLED, command_cancelled),
    CommandState.EXPIRED: (_ENDED, command_ended),
    CommandState.TIMED_OUT: (_ENDED, command_ended),
}
"""How a person's reason is stored, in the states that no display can bring about with a text of its own."""


def why_ended(state: CommandState, reason: str | None) -> Sentence | None:
    """The reason of an outcome, for people: a person's, a word's, or a display's own text."""
    if reason is None:
        return None
    if reason in set(OutcomeCause):
        return command_cause(cause=OutcomeCause(reason))
    stored, say = _BY_PERSON.get(state, (None, as_given))
    by_person = stored.fullmatch(reason) if stored else None
    return say(**by_person.groupdict()) if by_person else as_given(text=reason)
