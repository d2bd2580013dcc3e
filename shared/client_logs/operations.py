"""Use cases of logs: store each line once, count lines by the hour, and report to displays what is stored."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import Connection

from shared.client_logs import boots_store, gaps_store, hourly_counts_store, marks_store, rules, store
from shared.client_logs.rules import Boot, LogLine, Mark, Settled


class LogsStored(Struct, frozen=True):
    """The result of a batch of log lines."""

    count: int = 0  # lines stored
    duplicates: int = 0  # lines that were already stored
    given_up: int = 0  # missing numbers that are no longer expected
    committed: dict[Boot, int] = field(default_factory=dict)
    """Boot -> number up to which all its lines are stored after the commit."""
    doubted: frozenset[Boot] = frozenset()
    """The boots whose mark must not be published yet, because repeated numbers may belong to other lines."""
    began_anew: frozenset[str] = frozenset()
    """The clients that provably number a boot from 1 again."""


def record(connection: Connection, now: datetime, clock: float, lines: Sequence[LogLine]) -> LogsStored:
    """Store the new lines in order of arrival, and move the marks."""
    by_boot, mixed = _by_boot(lines)
    marks = marks_store.marks(connection, by_boot) if by_boot else {}
    anew, before = _begin_anew(connection, by_boot, marks)
    settled = {boot: rules.settle(marks[boot], numbers) for boot, numbers in by_boot.items()}
    doubted = _doubted(now, by_boot, marks) | mixed
    fresh = {id(by_boot[boot][seq]) for boot, change in settled.items() for seq in change.fresh}
    fresh |= {id(line) for line in before}
    new = [line for line in lines if rules.boot_of(line) is None or id(line) in fresh]
    if settled:
        _move(connection, now, marks, settled, doubted)
    words = [
        rules.word_about_a_gap(boot, clock, change.given_up, change.mark.seq)
        for boot, change in settled.items()
        if change.given_up
    ]
    _add(connection, now, clock, [*words, *new])
    if mixed:
        marks_store.end(connection, now, mixed)
    return LogsStored(
        count=len(new),
        duplicates=len(lines) - len(new),
        given_up=sum(change.given_up for change in settled.values()),
        committed={boot: change.mark.seq for boot, change in settled.items()},
        doubted=doubted,
        began_anew=frozenset(boot[0] for boot in anew),
    )


def _add(connection: Connection, now: datetime, clock: float, lines: Sequence[LogLine]) -> None:
    if lines:
        store.add(connection, now, clock, lines)
        hourly_counts_store.add(connection, rules.by_hour(now, clock, lines))


def _begin_anew(
    connection: Connection, by_boot: dict[Boot, dict[int, LogLine]], marks: dict[Boot, Mark]
) -> tuple[list[Boot], list[LogLine]]:
    """Forget the marks of displays that number from 1 again.

    Returns their boots, and the lines to store that came before number 1. These are of the life before: their numbers
    would make lines of this life seem stored. If the time of a line is the proof, only lines that are newer than all
    stored ones count; the others come again.
    """
    anew = [boot for boot in by_boot if rules.begins_anew(marks[boot], by_boot[boot])]
    before = [line for boot in anew for line in _take_life_before(by_boot[boot], marks[boot])]
    repeated = [boot for boot in by_boot if 1 in by_boot[boot] and rules.is_stored(marks[boot], 1)]
    if unproven := [boot for boot in repeated if boot not in anew]:
        last = store.last_times(connection, {boot[0] for boot in unproven})
        for boot in unproven:
            if (lines := rules.of_another_life(by_boot[boot], last.get(boot[0]))) is not None:
                before += _take_life_before(by_boot[boot], marks[boot])
                by_boot[boot] = {seq: line for seq, line in lines.items() if seq in by_boot[boot]}
                anew.append(boot)
    _forget(connection, anew, marks)
    return anew, before


def _forget(connection: Connection, anew: Collection[Boot], marks: dict[Boot, Mark]) -> None:
    if anew:
        marks_store.forget(connection, anew)
        marks.update(dict.fromkeys(anew, Mark()))


def _take_life_before(lines: dict[int, LogLine], known: Mark) -> list[LogLine]:
    """Remove the lines that arrived before number 1. Returns the removed lines that are not stored yet."""
    ended = {number: lines.pop(number) for number in takewhile(lambda number: number != 1, list(lines))}
    return [ended[number] for number in rules.settle(known, ended).fresh]


def _doubted(now: datetime, by_boot: Mapping[Boot, Collection[int]], marks: Mapping[Boot, Mark]) -> frozenset[Boot]:
    return frozenset(boot for boot, numbers in by_boot.items() if rules.is_doubted(marks[boot], numbers, now))


def _by_boot(lines: Sequence[LogLine]) -> tuple[dict[Boot, dict[int, LogLine]], frozenset[Boot]]:
    """The numbered lines by boot, the first of each number; and the boots with two different lines for one number."""
    by_boot: dict[Boot, dict[int, LogLine]] = {}
    mixed = set()
    for line in lines:
        if (boot := rules.boot_of(line)) is not None and line.seq is not None:
            first = by_boot.setdefault(boot, {}).setdefault(line.seq, line)
            if first is not line and not rules.is_same(first, line):
                mixed.add(boot)
    return by_boot, frozenset(mixed)


def pass_over(connection: Connection, now: datetime, numbers: Iterable[tuple[Boot, int]]) -> LogsStored:
    """Move the marks over lines that can never be stored.

    Otherwise their display would send them for ever. Numbers of unknown clients are left out.
    """
    by_boot: dict[Boot, set[int]] = {}
    for boot, number in numbers:
        by_boot.setdefault(boot, set()).add(number)
    if not by_boot:
        return LogsStored()
    marks = marks_store.marks(connection, by_boot)
    anew = [boot for boot in by_boot if rules.begins_anew(marks[boot], by_boot[boot])]
    _forget(connection, anew, marks)
    settled = {boot: rules.settle(marks[boot], passed) for boot, passed in by_boot.items()}
    doubted = _doubted(now, by_boot, marks)
    _move(connection, now, marks, settled, doubted)
    return LogsStored(
        committed={boot: change.mark.seq for boot, change in settled.items()},
        doubted=doubted,
        began_anew=frozenset(boot[0] for boot in anew),
    )


def close_gaps(connection: Connection, now: datetime) -> LogsStored:
    """Once an hour: move each mark over its first gap, if that has been there for a day in which its display was heard.

    A display repeats all lines that it has, so it no longer has the missing ones: the service lost a mark, or the
    display its spool. Without this the display would send the lines behind the gap for ever. The next gap gets a day of
    its own. A mark never moves to a number that no display can have reached, because its next lines would count as
    stored.
    """
    gaps_store.look(connection, now)
    marks = marks_store.marks(connection, gaps_store.due(connection))
    first = {boot: mark.islands[0] for boot, mark in marks.items() if rules.may_have_come_to_its_island(mark)}
    moved = {boot: high for boot, (_, high) in first.items()}
    if moved:
        marks_store.set_marks(connection, now, moved, ())
        marks_store.drop_keys(connection, moved)
    given_up = {boot: low - marks[boot].seq - 1 for boot, (low, _) in first.items()}
    words = [rules.word_about_a_gap(boot, 0.0, count, first[boot][0] - 1) for boot, count in given_up.items()]
    _add(connection, now, 0.0, words)
    return LogsStored(given_up=sum(given_up.values()), committed=moved)


def end_lives(connection: Connection, now: datetime, boots: Collection[Boot]) -> None:
    """Note that these boots may number from 1 again: the machine booted, but boot_seq did not increase."""
    marks_store.end(connection, now, boots)


def believe(connection: Connection, uuids: Collection[str]) -> dict[Boot, int]:
    """End the doubts of these clients, after a heartbeat of the same boot. Returns the marks to publish."""
    return marks_store.believe(connection, uuids)


def _move(
    connection: Connection,
    now: datetime,
    marks: Mapping[Boot, Mark],
    settled: Mapping[Boot, Settled],
    doubted: Collection[Boot],
) -> None:
    """Write the marks, and delete old boots of clients that began a new one."""
    marks_store.set_marks(connection, now, {boot: change.mark.seq for boot, change in settled.items()}, doubted)
    passed = {
        b: change.mark.seq for b, change in settled.items() if marks[b].islands and change.mark.seq > marks[b].seq
    }
    if passed:
        marks_store.drop_keys(connection, passed)
    above = [(boot, seq) for boot, change in settled.items() for seq in change.fresh if seq > change.mark.seq]
    if above:
        marks_store.add_keys(connection, above)
    if begun := {boot[0] for boot in settled if replace(marks[boot], may_doubt=False) == Mark()}:
        boots_store.forget_older(connection, now, begun)


def drop_expired(connection: Connection, now: datetime, routine_days: int) -> list[str]:
    """Drop the weekly partitions that are beyond the retention of their class. Returns their names.

    `routine_days` is LOG_RETENTION_DAYS. Hourly counts and marks have the retention of the serious class.
    """
    keep = {"routine": timedelta(days=routine_days), "serious": rules.SERIOUS_LAST * timedelta(days=routine_days)}
    dropped = [name for name in store.weekly_partitions(connection) if rules.is_over(name, now, keep)]
    for name in dropped:
        store.drop_partition(connection, name)
    hourly_counts_store.drop(connection, now - keep["serious"])
    marks_store.drop_marks(connection, now - keep["serious"])
    return dropped
