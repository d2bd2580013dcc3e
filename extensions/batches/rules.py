"""Rules of batches: which client is in which wave, and the next step. Pure."""

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID, uuid5

from msgspec import Struct

from shared.clients import zones_rules
from shared.commands.rules import CommandRequest
from shared.errors import ClientNotFound, InvalidWaves, ServiceError
from shared.vocabulary import COMMAND_RANKS, TERMINAL_RANK, CommandAction, CommandSource, CommandState, MemberOutcome
from shared.words.facts import By, Moment, in_zone
from shared.words.sentences import Sentence, sentence

MOST_CLIENTS: Final = 10_000
MOST_WAVES: Final = 20
AT_ONCE: Final = 500  # members sent in one transaction
REST: Final = "rest"
ALL_AT_ONCE: Final = (REST,)
UNPROVEN: Final = (CommandState.FAILED, CommandState.EXPIRED, CommandState.TIMED_OUT, CommandState.REJECTED)
"""The final states of commands without proof that they were carried out."""
NEVER_POSSIBLE: Final = (MemberOutcome.UNKNOWN_CLIENT, MemberOutcome.NOT_CAPABLE, MemberOutcome.ABORTED)
"""Outcomes that are decided when the batch is made; the others are decided in the member's wave."""

Wave = int | str
"""A number of clients, a share such as `10%`, or `rest`."""
Counts = Mapping[tuple[int | None, str, str | None], int]
"""How many members there are by (wave, outcome, state of their command)."""


class BatchRequest(Struct, frozen=True):
    """A request for commands to many clients. `clients`: uuids, or None for the clients that match `filter`."""

    action: CommandAction
    requested_by: str
    reason: str
    waves: tuple[Wave, ...] = ALL_AT_ONCE
    max_unproven: int | str = "10%"
    """More unproven commands than this pause the batch: a number, or a share of those sent so far."""
    ttl: timedelta | None = None
    clients: tuple[str, ...] | None = None
    filter: Mapping[str, object] | None = None
    traceparent: str | None = None

    def to(self, client_uuid: str) -> CommandRequest:
        """The command for one client. A batch never overrides the lockout."""
        return CommandRequest(
            client_uuid=client_uuid,
            action=self.action,
            requested_by=self.requested_by,
            reason=self.reason,
            source=CommandSource.BULK,
            ttl=self.ttl,
            traceparent=self.traceparent,
        )


class PlannedMember(Struct, frozen=True):
    """One client of a batch. `wave` counts from 1; None: it can never be sent."""

    client_uuid: str
    position: int
    outcome: MemberOutcome
    wave: int | None


class DecidedMember(Struct, frozen=True):
    """The outcome of a member after its turn."""

    client_uuid: str
    outcome: MemberOutcome
    command_id: str | None
    lockout_until: datetime | None


class BatchStep(StrEnum):
    """The next step of a batch."""

    SEND = "send"  # members of the present wave are waiting
    WAIT = "wait"  # for the results of sent commands
    NEXT_WAVE = "next_wave"
    PAUSE = "pause"
    FINISH = "finish"


class Decision(Struct, frozen=True):
    """The next step; `why`: the reason of a pause, for people."""

    turn: BatchStep
    why: Sentence | None = None


class Progress(Struct, frozen=True):
    """The progress of a batch, from its counts."""

    waiting_now: int
    waiting_later: int
    sent_in_wave: int
    sent: int
    open: int
    unproven: int


def command_id(batch_id: str, client_uuid: str) -> str:
    """The id of a member's command. A batch that is made again has the same ids: no display obeys one of them twice."""
    return str(uuid5(UUID(batch_id), client_uuid))


def outcome_of(refusal: ServiceError | None) -> MemberOutcome:
    """The outcome of a member whose command was refused for this reason (None: issued); error codes are outcomes."""
    if refusal is None:
        return MemberOutcome.ACCEPTED
    if isinstance(refusal, ClientNotFound):
        return MemberOutcome.UNKNOWN_CLIENT
    return MemberOutcome(refusal.code)


def plan(outcomes: Mapping[str, MemberOutcome], waves: Sequence[Wave]) -> list[PlannedMember]:
    """The members in the order of the request, each with its wave, by each client's present outcome.

    Clients that would get the command now come first: a first wave without commands proves nothing.
    """
    sendable = [uuid for uuid, outcome in outcomes.items() if outcome not in NEVER_POSSIBLE]
    sendable.sort(key=lambda uuid: outcomes[uuid] is not MemberOutcome.ACCEPTED)  # stable: the order stays
    sizes = wave_sizes(waves, len(sendable))
    numbers = [number for number, size in enumerate(sizes, start=1) for _ in range(size)]
    wave_of = dict(zip(sendable, numbers, strict=True))
    return [
        PlannedMember(uuid, position, MemberOutcome.WAITING if uuid in wave_of else outcome, wave_of.get(uuid))
        for position, (uuid, outcome) in enumerate(outcomes.items())
    ]


def wave_sizes(waves: Sequence[Wave], total: int) -> list[int]:
    """How many clients each wave has; clients left over form a last wave. Empty waves are left out.

    Raises InvalidWaves.
    """
    if not 1 <= len(waves) <= MOST_WAVES or REST in waves[:-1]:
        raise InvalidWaves
    sizes: list[int] = []
    for wave in (*waves, REST):
        sizes.append(min(_size(wave, total), total - sum(sizes)))
    return [size for size in sizes if size]


def _size(wave: Wave, total: int) -> int:
    if wave == REST:
        return total
    if isinstance(wave, int):
        if wave < 1:
            raise InvalidWaves
        return wave
    return max(1, math.ceil(total * share_of(wave)))


def share_of(percent: str) -> float:
    """`10%` as 0.1. Raises InvalidWaves."""
    number = percent.removesuffix("%")
    if number == percent or not number.isdecimal() or not 0 <= int(number) <= 100:
        raise InvalidWaves
    return int(number) / 100


def check_limit(limit: int | str) -> None:
    """Raises InvalidWaves when it is neither a number nor a share."""
    if isinstance(limit, int):
        if limit < 0:
            raise InvalidWaves
    else:
        share_of(limit)


def progress(counts: Counts, wave: int) -> Progress:
    """The progress of a batch whose present wave is `wave`."""

    def members(outcome: MemberOutcome, waves: Collection[int]) -> int:
        return sum(n for (of_wave, said, _), n in counts.items() if said == outcome and of_wave in waves)

    states = dict.fromkeys(CommandState, 0)
    for (_, _, state), number in counts.items():
        if state is not None:
            states[CommandState(state)] += number
    later = {of_wave for of_wave, _, _ in counts if of_wave is not None and of_wave > wave}
    so_far = range(1, wave + 1)
    return Progress(
        waiting_now=members(MemberOutcome.WAITING, {wave}),
        waiting_later=members(MemberOutcome.WAITING, later),
        sent_in_wave=members(MemberOutcome.ACCEPTED, {wave}),
        sent=members(MemberOutcome.ACCEPTED, so_far),
        open=sum(number for state, number in states.items() if _is_open(state)),
        unproven=sum(states[state] for state in UNPROVEN),
    )


def is_too_many(unproven: int, sent: int, limit: str) -> bool:
    """Whether `unproven` of `sent` commands exceed the limit, a number or a share."""
    return unproven > (sent * share_of(limit) if limit.endswith("%") else int(limit))


def decide(now: Progress, *, wave: int, limit: str, excused: int, excused_wave: int) -> Decision:
    """The batch's next step. Unproven commands that an operator excused by a resume do not pause it again.

    1. While members wait, too many unproven commands pause it.
    2. It sends the whole present wave and waits for the results.
    3. When no member waits, it is over. 4. A wave without any command proves nothing: it pauses, a person decides.
    """
    waits = now.waiting_now + now.waiting_later
    if waits and is_too_many(now.unproven - excused, now.sent, limit):
        failed = {"unproven": now.unproven, "sent": now.sent, "excused": excused, "waiting": waits}
        most, share = int(limit.removesuffix("%")), limit.endswith("%")
        return Decision(BatchStep.PAUSE, too_many_unproven(**failed, limit=most, share=share))
    if now.waiting_now:
        return Decision(BatchStep.SEND)
    if now.open:
        return Decision(BatchStep.WAIT)
    if not now.waiting_later:
        return Decision(BatchStep.FINISH)
    if not now.sent_in_wave and excused_wave < wave:
        return Decision(BatchStep.PAUSE, wave_proves_nothing(wave=wave))
    return Decision(BatchStep.NEXT_WAVE)


def why_waiting(members: int, until: datetime | None, zone: str | None) -> Sentence:
    """Why members wait for a quiet time, for people. `until` None: until a person ends it."""
    name = zones_rules.or_utc(zone or "UTC").key
    return members_wait(members=members, at=None if until is None else in_zone(until, name))


@sentence
def too_many_unproven(*, unproven: int, sent: int, excused: int, limit: int, share: bool, waiting: int) -> Sentence: ...
@sentence
def wave_proves_nothing(*, wave: int) -> Sentence: ...
@sentence
def members_wait(*, members: int, at: Moment | None) -> Sentence: ...
@sentence
def maker_may_not(*, by: By, displays: int) -> Sentence: ...
@sentence
def not_at_makers_sites(*, by: By, displays: int) -> Sentence: ...
@sentence
def batch_paused(*, by: By) -> Sentence: ...
@sentence
def batch_aborted(*, by: By, not_sent: int, withdrawn: int) -> Sentence: ...


def why_left_out(counts: Counts, by: str) -> Sentence | None:
    """Why members of a finished batch got nothing that nobody aborted; None when there are none."""
    left = sum(number for (_, outcome, _), number in counts.items() if outcome == MemberOutcome.ABORTED)
    return not_at_makers_sites(by=by, displays=left) if left else None


def result(counts: Counts) -> str | None:
    """`succeeded` when every member's command did, `partial` when some did, `failed` when none; None before the end."""
    if any(_is_open(CommandState(state)) for _, _, state in counts if state is not None):
        return None
    succeeded = sum(number for (_, _, state), number in counts.items() if state == CommandState.SUCCEEDED)
    if succeeded == sum(counts.values()):
        return "succeeded"
    return "partial" if succeeded else "failed"


def _is_open(state: CommandState) -> bool:
    return COMMAND_RANKS[state] < TERMINAL_RANK
