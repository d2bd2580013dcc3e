"""What happens when displays log: each line stored once, counted by the hour, and told how far we have them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType

from sqlalchemy import Connection

from shared import prepared
from shared.ahead import Later, in_turn
from shared.client_logs import rules, store
from shared.client_logs.boots import store as boots_store
from shared.client_logs.hours import store as hours_store
from shared.client_logs.marks import store as marks_store
from shared.client_logs.rules import Boot, LastMark, LogLine, Mark, MarksMoved, Settled


@dataclass(frozen=True)
class Stored:
    """What became of a batch of log lines."""

    count: int = 0  # lines stored
    duplicates: int = 0  # lines that were stored before
    given_up: int = 0  # numbers that never came and are not waited for any more
    committed: dict[Boot, int] = field(default_factory=dict)
    """Of each boot that told something: everything up to this number is stored, once this commits."""
    marks: dict[str, LastMark | None] = field(default_factory=dict)
    """Of each client whose mark moved: what may be remembered once this commits; None: nothing."""


def record(
    connection: Connection,
    now: datetime,
    clock: float,
    lines: Sequence[LogLine],
    remembered: Mapping[str, LastMark] = MappingProxyType({}),
) -> Stored:
    """Store the lines that are new, in order of arrival, and move the marks.

    `remembered` are `Stored.marks` of what was committed before.

    Raises:
        MarksMoved: what is remembered is not what is stored; nothing may be committed.
    """
    by_boot = _by_boot(lines)
    marks = _known(connection, by_boot, remembered)
    settled = {boot: rules.settle(marks.of[boot], numbers) for boot, numbers in by_boot.items()}
    fresh = {id(by_boot[boot][seq]) for boot, change in settled.items() for seq in change.fresh}
    new = [line for line in lines if rules.boot_of(line) is None or id(line) in fresh]
    said = Later(lambda: store.as_said(new))
    hours = Later(lambda: hours_store.as_counted(rules.by_hour(now, clock, new)))
    with prepared.meanwhile(connection, in_turn(said, hours)):
        _move(connection, now, marks, settled)
        if new:
            store.add(connection, now, clock, said())
            hours_store.add(connection, hours())
    return Stored(
        count=len(new),
        duplicates=len(lines) - len(new),
        given_up=sum(change.given_up for change in settled.values()),
        committed={boot: change.mark.seq for boot, change in settled.items()},
        marks=_to_remember(settled),
    )


def _by_boot(lines: Sequence[LogLine]) -> dict[Boot, dict[int, LogLine]]:
    """The numbered ones, the first of each number."""
    by_boot: dict[Boot, dict[int, LogLine]] = {}
    for line in lines:
        if (boot := rules.boot_of(line)) is not None and line.seq is not None:
            by_boot.setdefault(boot, {}).setdefault(line.seq, line)
    return by_boot


def pass_over(connection: Connection, now: datetime, numbers: Iterable[tuple[Boot, int]]) -> dict[Boot, int]:
    """Move the marks over lines that can never be stored; answer how far each boot then is, as `Stored.committed`.

    Their display would otherwise send them for ever. Numbers of unknown clients are left out.
    """
    by_boot: dict[Boot, list[int]] = {}
    for boot, number in numbers:
        by_boot.setdefault(boot, []).append(number)
    marks = _known(connection, by_boot, {})
    settled = {boot: rules.settle(marks.of[boot], passed) for boot, passed in by_boot.items()}
    _move(connection, now, marks, settled)
    return {boot: change.mark.seq for boot, change in settled.items()}


def _to_remember(settled: Mapping[Boot, Settled]) -> dict[str, LastMark | None]:
    """Of clients that told of one boot, without a gap."""
    marks: dict[str, LastMark | None] = {}
    for boot, change in settled.items():
        is_plain = boot[0] not in marks and not change.mark.islands
        marks[boot[0]] = (boot, change.mark.seq) if is_plain else None
    return marks


@dataclass(frozen=True)
class _Marks:
    """Where the marks of some boots stand: by memory, or because the database was asked."""

    of: dict[Boot, Mark]
    asked: list[Boot]


def _known(connection: Connection, boots: Iterable[Boot], remembered: Mapping[str, LastMark]) -> _Marks:
    last: dict[Boot, Mark] = {}
    for boot in boots:
        if (mark := remembered.get(boot[0])) is not None and mark[0] == boot:
            last[boot] = Mark(mark[1])
    asked = [boot for boot in boots if boot not in last]
    return _Marks(last | marks_store.marks(connection, asked) if asked else last, asked)


def _move(connection: Connection, now: datetime, marks: _Marks, settled: Mapping[Boot, Settled]) -> None:
    """Write the marks, and forget old boots of clients that began one.

    Raises MarksMoved where a mark that is remembered stands elsewhere.
    """
    known, asked = marks.of, set(marks.asked)
    if asked:
        marks_store.set_marks(connection, now, {boot: settled[boot].mark.seq for boot in marks.asked})
    moves = {boot: (known[boot].seq, change.mark.seq) for boot, change in settled.items() if boot not in asked}
    if moves and marks_store.move_marks(connection, now, moves) < len(moves):
        raise MarksMoved
    passed = {
        b: change.mark.seq for b, change in settled.items() if known[b].islands and change.mark.seq > known[b].seq
    }
    if passed:
        marks_store.drop_keys(connection, passed)
    above = [(boot, seq) for boot, change in settled.items() for seq in change.fresh if seq > change.mark.seq]
    if above:
        marks_store.add_keys(connection, above)
    if begun := {boot[0] for boot in marks.asked if known[boot] == Mark(0)}:
        boots_store.forget_older(connection, begun)


def drop_expired(connection: Connection, now: datetime, routine_days: int, serious_days: int) -> list[str]:
    """Drop the weekly partitions that ended longer ago than their class is kept; answer their names.

    The roll-up and the marks go with the serious class.
    """
    keep = {"routine": timedelta(days=routine_days), "serious": timedelta(days=serious_days)}
    dropped = [name for name in store.weekly_partitions(connection) if rules.is_over(name, now, keep)]
    for name in dropped:
        store.drop_partition(connection, name)
    hours_store.drop(connection, now - keep["serious"])
    marks_store.drop_marks(connection, now - keep["serious"])
    return dropped
