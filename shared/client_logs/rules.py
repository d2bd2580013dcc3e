"""Store each log line exactly once: its display numbers it, and the service remembers which numbers it has. Pure.

The mark of a boot is the highest number up to which every line is stored. Lines above it, behind a gap, are remembered
as islands: ranges (low, high) without a gap, in ascending order.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from msgspec import Struct

from shared.vocabulary import LEVEL_WORDS, LogLevel

MESSAGE_MAX_CHARS: Final = 8192  # a longer message is cut
KEPT_ABOVE_MARK: Final = 100_000  # lines of one boot behind a gap; with more, the gap is given up

SERVICE: Final = "signage-fleet"  # the logger of lines that the service itself writes
MOST_LINES: Final = 10**9  # of one boot: fifty a second for more than half a year
DOUBT_LASTS: Final = timedelta(minutes=5)  # without a heartbeat a doubt ends after this time
CLOCK_STEP: Final = 0.001  # seconds; smaller differences come from the rounding in Postgres


class Boot(NamedTuple):
    """A boot of a client: within it logs are numbered from 1 without a gap."""

    uuid: str
    install_id: str
    boot_seq: int


Island = tuple[int, int]


class LogLine(Struct):
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


class Mark(Struct, frozen=True):
    """The stored lines of one boot: all up to `seq`, and the islands above it."""

    seq: int = 0
    islands: tuple[Island, ...] = ()
    is_over: bool = False
    """Whether the display may number from 1 again, which its next lines show."""
    doubted_at: datetime | None = None
    """Since when repeated numbers come that may belong to other lines."""
    may_doubt: bool = False
    """Whether the display sends heartbeats: one after its lines shows whether its numbers began again."""


class Settled(Struct, frozen=True):
    """The effect of a batch of numbers on a mark."""

    fresh: tuple[int, ...]  # the new numbers, ascending
    mark: Mark
    given_up: int  # numbers at or below the new mark that never came


def level_of(word: str) -> tuple[LogLevel, str | None]:
    """The level for the last segment of a log topic; and the word itself if it is unknown."""
    level = LEVEL_WORDS.get(word)
    return (LogLevel.INFO, word) if level is None else (level, None)


def boot_of(line: LogLine) -> Boot | None:
    """The boot that numbers this line; None for a line without a stamp, whose repeats cannot be recognised."""
    if line.install_id is None or line.boot_seq is None or line.seq is None:
        return None
    return Boot(line.uuid, line.install_id, line.boot_seq)


def has_ended(boot: Boot, ended: Boot) -> bool:
    """Whether this is the ended boot, or a later one of the same installation."""
    return boot[:2] == ended[:2] and boot[2] >= ended[2]


def settle(known: Mark, numbers: Iterable[int], kept_above: int = KEPT_ABOVE_MARK) -> Settled:
    """Decide which of `numbers` are new, and move the mark.

    With more than `kept_above` numbers behind gaps, the lowest gaps are given up until the rest fits.
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
    """Whether two lines with one number are the same line, sent twice: displays repeat lines unchanged."""
    return (line.message, line.client_time, line.level) == (other.message, other.client_time, other.level)


def begins_anew(known: Mark, numbers: Collection[int]) -> bool:
    """Whether the numbers of a display that may begin again do so. When in doubt a line is stored twice, never lost."""
    return known.is_over and known.seq > 0 and 1 in numbers


def is_doubted(known: Mark, numbers: Collection[int], now: datetime) -> bool:
    """Whether the mark must not be published yet, because repeated numbers may belong to other lines.

    A heartbeat of the same boot ends the doubt. If the numbers may have begun again, only time ends it, or the exact
    next number: a display that began again sends its first line before the doubt ends.
    """
    if known.doubted_at is not None:
        return now - known.doubted_at < DOUBT_LASTS
    if known.is_over:
        return min(numbers) != known.seq + 1
    return known.may_doubt and any(is_stored(known, number) for number in numbers)


def of_another_life(lines: Mapping[int, LogLine], last_time: float | None) -> dict[int, LogLine] | None:
    """The lines of a display whose numbers provably began again with 1; None without a proof.

    The proof is the display's clock: its first line is newer than its last stored ones. Lines that are not newer are
    left out; the display sends them again.
    """
    first = lines.get(1)
    if first is None or last_time is None or not _is_after(first, last_time):
        return None
    return {seq: line for seq, line in lines.items() if line.client_time is None or _is_after(line, last_time)}


def _is_after(line: LogLine, last_time: float) -> bool:
    return line.client_time is not None and line.client_time > last_time + CLOCK_STEP


def is_stored(known: Mark, number: int) -> bool:
    """Whether the line of this number was stored or given up."""
    return number <= known.seq or any(low <= number <= high for low, high in known.islands)


def may_have_come_to_its_island(known: Mark) -> bool:
    """Whether the mark may move to its first island: whether a display can really have counted so far.

    A counter that leaps once, at worst to 2^63, leaves an unreachable island; its next numbers continue as before.
    """
    return bool(known.islands) and known.islands[0][0] - known.seq <= MOST_LINES


def word_about_a_gap(boot: Boot, heard: float, count: int, last: int) -> LogLine:
    """The line that tells people which numbers of a display are no longer expected: `count` of them, up to `last`."""
    message = (
        f"{count} log lines may be missing before this one: numbers up to {last} of start {boot.boot_seq} never came."
    )
    return LogLine(boot.uuid, heard, LogLevel.WARNING, None, message, logger=SERVICE)


def _joined(ranges: Sequence[Island]) -> list[Island]:
    """The ranges in ascending order, with adjacent ones joined."""
    joined: list[Island] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


class Budget(Struct, frozen=True):
    """How many log messages of a client are stored: a rate, and a burst."""

    per_second: float
    burst: float

    @property
    def refill_seconds(self) -> float:
        """The time without messages after which a client has a whole burst again."""
        return self.burst / self.per_second


LOG_BUDGET: Final = Budget(per_second=50, burst=500)
SERIOUS_LAST: Final = 3  # times as long as the others errors and critical messages are kept


class Allowance(Struct):
    """The rest of a client's budget: a token pays for a message. Times are monotonic seconds."""

    tokens: float
    at: float  # when the tokens were last updated
    mark: tuple[Boot, int] | None = None  # the mark that moved last, and its boot
    awaited: tuple[Boot, int] | None = None  # the first numbered message that was refused
    awaited_until: float = 0.0


def admits(budget: Budget, left: Allowance, line: LogLine) -> bool:
    """Whether this message is within the budget at its arrival. If so it costs a token, unless it is already stored.

    After a refused numbered message, later ones of its boot are refused too, at no cost, until it comes again: displays
    repeat lines in order, so each token moves the mark, even in a flood. If the display never repeats the message, the
    wait ends after a refill.
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
    """Whether this partition (`client_logs_<class>_<ISO year>w<ISO week>`) is beyond its retention."""
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
