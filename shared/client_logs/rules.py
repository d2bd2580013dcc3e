"""How a log line is stored exactly once: its display numbers it, and we remember up to where nothing is missing.

The mark is the highest number of a boot below which every log is stored. What is stored above it, behind a
gap, is remembered in islands: ranges (low, high) without a gap, in ascending order.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from shared.vocabulary import LogLevel

MESSAGE_MAX_CHARS: Final = 8192  # a longer message is cut
KEPT_ABOVE_MARK: Final = 100_000  # logs of one boot behind a gap, before the gap is taken for lost
LEVELS: Final = {
    **{level.value: level for level in LogLevel},
    "warn": LogLevel.WARNING,
    "err": LogLevel.ERROR,
    "fatal": LogLevel.CRITICAL,
}

MOST_LINES: Final = 10**9  # of one boot: fifty a second for more than half a year
DOUBT_LASTS: Final = timedelta(minutes=5)  # who sends no heartbeat meanwhile is believed
CLOCK_STEP: Final = 0.001  # seconds: a time that went through Postgres is no later one


class Boot(NamedTuple):
    """A boot of a client: within it logs are numbered from 1 without a gap."""

    uuid: str
    install_id: str
    boot_seq: int


Island = tuple[int, int]
LastMark = tuple[Boot, int]
"""The boot of a client that told something last, and up to where it is stored; nothing is stored above."""


@dataclass(slots=True)
class LogLine:
    """One log message of a display. `heard` is its arrival in seconds of the bridge's monotonic clock."""

    uuid: str
    heard: float
    level: LogLevel
    raw_level: str | None
    message: str
    truncated: bool = False
    logger: str | None = None
    context: dict[str, Any] | None = None
    client_time: float | None = None  # seconds since 1970 by the display's own clock
    install_id: str | None = None
    boot_seq: int | None = None
    seq: int | None = None


@dataclass(frozen=True)
class Mark:
    """What is stored of one boot: everything up to `seq`, and the islands above it."""

    seq: int = 0
    islands: tuple[Island, ...] = ()
    is_over: bool = False
    """The display may number from 1 again: its next lines tell."""
    doubted_at: datetime | None = None
    """Since when lines come again of which nobody knows yet whether they are the same lines."""
    may_doubt: bool = field(default=False, compare=False)
    """The display sends heartbeats: one that comes after its lines tells whether its numbers began again."""


@dataclass(frozen=True)
class Settled:
    """What a batch of numbers does to a mark."""

    fresh: tuple[int, ...]  # those not stored before, ascending
    mark: Mark
    given_up: int  # numbers at or below the new mark that never came


class MarksMoved(Exception):
    """A mark is not where it was remembered to be."""


def level_of(word: str) -> tuple[LogLevel, str | None]:
    """The level for a log topic's last segment, and the word itself where it is none of ours."""
    level = LEVELS.get(word)
    return (LogLevel.INFO, word) if level is None else (level, None)


def boot_of(line: LogLine) -> Boot | None:
    """The boot that numbers this line; None without a stamp, when it cannot be told from a duplicate."""
    if line.install_id is None or line.boot_seq is None or line.seq is None:
        return None
    return Boot(line.uuid, line.install_id, line.boot_seq)


def has_ended(boot: Boot, ended: Boot) -> bool:
    """Is this the boot that ended, or a later one of its installation?"""
    return boot[:2] == ended[:2] and boot[2] >= ended[2]


def settle(known: Mark, numbers: Iterable[int], kept_above: int = KEPT_ABOVE_MARK) -> Settled:
    """Which of `numbers` are new, and where the mark then stands.

    When more than `kept_above` numbers wait behind gaps, the lowest gaps are given up until they fit.
    """
    fresh = tuple(sorted(number for number in set(numbers) if not is_stored(known, number)))
    islands = _joined([(0, known.seq), *known.islands, *((number, number) for number in fresh)])
    (_, mark), *above = islands
    given_up = 0
    waiting = sum(high - low + 1 for low, high in above)
    while waiting > kept_above:
        low, high = above.pop(0)
        given_up += low - mark - 1
        mark, waiting = high, waiting - (high - low + 1)
    return Settled(fresh, Mark(mark, tuple(above)), given_up)


def is_same(line: LogLine, other: LogLine) -> bool:
    """Are two lines of one number one line that came twice? Displays send again what they sent, unchanged."""
    return (line.message, line.client_time, line.level) == (other.message, other.client_time, other.level)


def begins_anew(known: Mark, numbers: Collection[int]) -> bool:
    """Do these numbers begin again with 1, of a display that may do so? A line is rather stored twice than lost."""
    return known.is_over and known.seq > 0 and 1 in numbers


def is_doubted(known: Mark, numbers: Collection[int], now: datetime) -> bool:
    """May the display not be told yet how far it is stored? What comes again may be other lines.

    A heartbeat of the same boot ends the doubt. When the numbers may have begun again only time does, or the very
    next number: a display that began again sends its first line within the time that a doubt lasts.
    """
    if known.doubted_at is not None:
        return now - known.doubted_at < DOUBT_LASTS
    if known.is_over:
        return min(numbers) != known.seq + 1
    return known.may_doubt and any(is_stored(known, number) for number in numbers)


def of_another_life(lines: Mapping[int, LogLine], last_time: float | None) -> dict[int, LogLine] | None:
    """The lines of a display that began again with number 1; None where nothing proves it.

    The proof is its own clock: a first line that is newer than the last ones that came of this display. Lines that
    are no newer than those are left for later.
    """
    first = lines.get(1)
    if first is None or last_time is None or not _is_after(first, last_time):
        return None
    return {seq: line for seq, line in lines.items() if line.client_time is None or _is_after(line, last_time)}


def _is_after(line: LogLine, last_time: float) -> bool:
    return line.client_time is not None and line.client_time > last_time + CLOCK_STEP


def is_stored(known: Mark, number: int) -> bool:
    """Was the log of this number stored (or given up) before?"""
    return number <= known.seq or any(low <= number <= high for low, high in known.islands)


def may_have_come_to_its_island(known: Mark) -> bool:
    """Is there an island above the mark that a display can have numbered up to?

    A counter that leapt once, to 2^63 at worst, leaves one that it cannot: the next lines are numbered as before.
    """
    return bool(known.islands) and known.islands[0][0] - known.seq <= MOST_LINES


def _joined(ranges: Sequence[Island]) -> list[Island]:
    """The ranges in ascending order, neighbours made one."""
    joined: list[Island] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


@dataclass(frozen=True)
class Budget:
    """How many log messages of one client are stored: so many a second, and so many at once."""

    per_second: float
    burst: float

    @property
    def refill_seconds(self) -> float:
        """After so long in silence a client may send a whole burst again."""
        return self.burst / self.per_second


@dataclass(slots=True)
class Allowance:
    """What one client has left of its budget: a token pays for a message. Times are monotonic seconds."""

    tokens: float
    at: float  # when the tokens were last reckoned
    mark: tuple[Boot, int] | None = None  # how far the boot that last moved its mark is stored
    awaited: tuple[Boot, int] | None = None  # the first numbered message that was held back
    awaited_until: float = 0.0


def admits(budget: Budget, left: Allowance, line: LogLine) -> bool:
    """Is this message within the budget at its arrival? Then it is paid for, unless it is stored already.

    When a numbered message is held back, the later ones of its boot are held back with it, unpaid for, until it
    comes again: displays resend in order, so every token then buys progress of the mark, however they flood.
    That wait ends after a refill, should the display never send it again.
    """
    left.tokens = max(left.tokens, min(budget.burst, left.tokens + (line.heard - left.at) * budget.per_second))
    left.at = max(left.at, line.heard)
    if left.awaited is not None and line.heard >= left.awaited_until:
        left.awaited = None
    boot, seq = boot_of(line), line.seq or 0
    if left.mark is not None and left.mark[0] == boot and seq <= left.mark[1]:
        return True
    if left.awaited is not None and left.awaited[0] == boot and seq > left.awaited[1]:
        return False
    if left.tokens < 1:
        if boot is not None and (left.awaited is None or left.awaited[0] == boot):
            left.awaited, left.awaited_until = (boot, seq), line.heard + budget.refill_seconds
        return False
    left.tokens -= 1
    if left.awaited == (boot, seq):
        left.awaited = None
    return True


def is_over(partition: str, now: datetime, keep: Mapping[str, timedelta]) -> bool:
    """Did the week of this partition (`client_logs_<class>_<ISO year>w<ISO week>`) end longer ago than it is kept?"""
    _, _, severity_class, week = partition.split("_")
    year, number = week.split("w")
    ends = datetime.fromisocalendar(int(year), int(number), 1).replace(tzinfo=UTC) + timedelta(days=7)
    return ends <= now - keep[severity_class]


def by_hour(
    now: datetime, clock: float, lines: Iterable[LogLine]
) -> dict[tuple[str, datetime, LogLevel], tuple[int, datetime]]:
    """The number of lines and the time of the last one, by client, hour and level."""
    counts: dict[tuple[str, datetime, LogLevel], tuple[int, datetime]] = {}
    for line in lines:
        at = now - timedelta(seconds=clock - line.heard)
        key = (line.uuid, at.replace(minute=0, second=0, microsecond=0), line.level)
        count, last_at = counts.get(key, (0, at))
        counts[key] = (count + 1, max(last_at, at))
    return counts
