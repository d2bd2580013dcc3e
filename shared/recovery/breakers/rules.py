"""Decide when breakers open and close: while one is open, recovery acts on no silent display, or on no bad screen.

So many displays that fail at once may be the fault of their playlist, of the power, or our own.
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from shared.recovery import words_rules as recovery_words_rules
from shared.recovery.breakers import words_rules
from shared.vocabulary import RecoveryBasis
from shared.words.sentences import Sentence

BreakerKey = tuple[RecoveryBasis, str | None]
"""The evidence that a breaker keeps recovery from acting on (stale or screen_failed), and its site; None: the fleet."""

FEWEST: Final = 5  # fewer silent displays never open a breaker
TOGETHER: Final = timedelta(minutes=5)
"""Displays that fall silent within this time do so "at once"; or within their heartbeat interval, if it is longer."""
SEEN_WITHIN: Final = timedelta(hours=24)
"""A client heard within this time, counted in listening time, counts for a closed breaker.

Recovery acts on no client that is silent for longer (`recovery.rules`): every client that it may act on counts.
"""
FELL_TOGETHER: Final = 0.2  # this share opens a breaker when it fell silent at once, and keeps it open
MOST_SILENT: Final = 0.5  # this share opens a breaker, however long it has been silent
CLOSES_AFTER: Final = timedelta(seconds=45)  # few enough must be silent for so long before a breaker closes
CLOSES_AFTER_INTERVALS: Final = 1.5  # or for so many of the longest heartbeat interval among the silent displays

LATE: Final = 0.5  # a client is late after this share of its threshold: three heartbeats of 30 s are missing


class Silence(Struct, frozen=True):
    """How many clients of the fleet or of a site are silent, by the raw age of their last sign of life.

    A breaker of screens counts failing screens among the clients that report their screen.
    """

    seen: int
    """Clients that count: heard since `seen_since` or `counted_since`, and not let alone."""
    stale: int
    """The silent clients among them."""
    recent: int
    """The most of them that fell silent at once (TOGETHER), since shortly before the last evaluation."""
    let_alone: int = 0
    """Silent clients that do not count: in a quiet time, stopped, released by a person, deleted."""
    interval_seconds: int = 0
    """The longest heartbeat interval of the stale clients."""

    @property
    def closes_after(self) -> timedelta:
        """How long few enough clients must be silent before an open breaker closes."""
        return max(CLOSES_AFTER, CLOSES_AFTER_INTERVALS * timedelta(seconds=self.interval_seconds))


def opens(silence: Silence) -> bool:
    """Whether a closed breaker opens."""
    together = silence.recent >= FEWEST and silence.recent >= FELL_TOGETHER * silence.seen
    return together or (silence.stale >= FEWEST and silence.stale >= MOST_SILENT * silence.seen)


def is_low(silence: Silence) -> bool:
    """Whether few enough clients are silent for an open breaker to close.

    Clients that were excluded or deleted meanwhile have not come back. If they leave only a few that count, most of
    these must be heard.
    """
    few = silence.stale < FEWEST
    if few and silence.stale + silence.let_alone >= FEWEST:
        return silence.stale == 0 or silence.stale < MOST_SILENT * silence.seen
    return few or silence.stale < FELL_TOGETHER * silence.seen


def why_wait(late: int, seen: int) -> Sentence | None:
    """Why recovery must wait before it acts on silence, for people; None when it need not.

    When all displays fall silent by our fault, the breaker opens only once they are stale. Before that, displays that
    were silent a little earlier, or speak more often, look like the only silent ones. `late` counts these too.
    """
    if late < FEWEST or late < FELL_TOGETHER * seen:
        return None
    return recovery_words_rules.many_late(late=late, seen=seen)


def closes(now: datetime, low_since: datetime | None, silence: Silence) -> bool:
    """Whether an open breaker closes. `low_since`: since when few enough clients are silent (None: too many are).

    After a fault of ours displays come back one after another, the last one an interval after its end. Without this
    delay the tick that finds the first ones back would reboot the last ones. The delay is a time and not a number of
    ticks, because a tick may come twice.
    """
    return low_since is not None and now - low_since >= silence.closes_after


def seen_since(now: datetime, listening_since: datetime | None, heard_until: datetime | None) -> datetime:
    """When SEEN_WITHIN began. Time in which the bridge did not listen does not count.

    `heard_until` is the last sign of life before `listening_since`, or the last of all while the bridge does not
    listen. None: there is none, or the bridge has listened for SEEN_WITHIN.
    """
    if heard_until is None:
        return now - SEEN_WITHIN
    listened = now - listening_since if listening_since is not None else timedelta()
    return heard_until - (SEEN_WITHIN - listened)


def counted_since(open_since: datetime, stored: datetime | None) -> datetime:
    """Since when a client must have been heard to count for an open breaker.

    This is the time at its opening and does not move. Otherwise the silence that opened the breaker would no longer
    count after a day, and the breaker would close with no display back. `stored` is None if older code opened it.
    """
    return stored or open_since - SEEN_WITHIN


def last_look(now: datetime, looked_at: datetime | None) -> datetime:
    """The time of the last evaluation, or now: displays that fell silent since then are not evaluated yet.

    So displays that fell silent at once are counted even if no tick ran for an hour.
    """
    return min(looked_at or now, now)


def why(basis: RecoveryBasis, site: str | None, silence: Silence) -> Sentence:
    """Why a breaker is open, for people. A breaker that only waits to close has another text."""
    if basis is RecoveryBasis.SCREEN_FAILED:
        return words_rules.screens_open(site=site, failing=silence.stale, telling=silence.seen)
    if is_low(silence):
        return words_rules.breaker_closing(site=site, seconds=int(silence.closes_after.total_seconds()))
    return words_rules.breaker_open(
        site=site, stale=silence.stale, seen=silence.seen, percent=round(100 * FELL_TOGETHER)
    )
