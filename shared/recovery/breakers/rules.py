"""When so many displays are silent at once that the fault may be ours: then no silent display is acted on."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.clients.reports.rules import in_words

FEWEST: Final = 5  # below it nobody speaks of a mass
TOGETHER: Final = timedelta(minutes=5)
"""Fell silent "at once". Of displays with a longer interval: within that, for so long one cut shows bit by bit."""
SEEN_WITHIN: Final = timedelta(hours=24)
"""Who was heard within it, counted in listening time, is reckoned with while a breaker is closed.

Nobody who is silent for longer is acted on (`recovery.rules`): whoever may be acted on is reckoned with.
"""
FELL_TOGETHER: Final = 0.2  # share that opens when it fell silent at once, and that keeps it open
MOST_SILENT: Final = 0.5  # share that opens, however long they have been silent
CLOSES_AFTER: Final = timedelta(seconds=45)  # of few enough silent, at least
CLOSES_AFTER_INTERVALS: Final = 1.5  # of the one among those that beats most seldom

LATE: Final = 0.5  # of a client's threshold: three heartbeats of 30 s are missing


@dataclass(frozen=True)
class Silence:
    """How many clients of the fleet or of a site are silent, by the raw age of their last sign."""

    seen: int
    """Clients heard since a moment (`seen_since`, `counted_since`), without those whose silence is no news."""
    stale: int
    recent: int
    """The most of the stale that fell silent at once (TOGETHER), since shortly before the last look."""
    let_alone: int = 0
    """Clients that are silent too and do not count: excluded, held, in maintenance, stopped, vouched for, deleted."""
    interval_seconds: int = 0
    """The longest between two heartbeats of one of the stale."""

    @property
    def closes_after(self) -> timedelta:
        """How long so few must have been silent before an open breaker closes."""
        return max(CLOSES_AFTER, CLOSES_AFTER_INTERVALS * timedelta(seconds=self.interval_seconds))


def opens(silence: Silence) -> bool:
    """Whether a closed breaker opens."""
    together = silence.recent >= FEWEST and silence.recent >= FELL_TOGETHER * silence.seen
    return together or (silence.stale >= FEWEST and silence.stale >= MOST_SILENT * silence.seen)


def is_low(silence: Silence) -> bool:
    """Whether so few are silent that an open breaker may close.

    Who is excluded or deleted meanwhile has not come back. Where only a few are left to count, most of them must have.
    """
    few = silence.stale < FEWEST
    if few and silence.stale + silence.let_alone >= FEWEST:
        return silence.stale == 0 or silence.stale < MOST_SILENT * silence.seen
    return few or silence.stale < FELL_TOGETHER * silence.seen


def why_wait(late: int, seen: int) -> str | None:
    """Why no silent client is acted on at this moment, in words; None where nothing stands against it.

    Where everybody falls silent by a fault of ours, the breaker opens when they are stale. Until then the one that
    came back from a silence of its own just before looks like the only one that is silent.
    """
    if late < FEWEST or late < FELL_TOGETHER * seen:
        return None
    return f"{late:,} of {seen:,} displays are late at the moment: whether they fall silent too is seen first."


def closes(now: datetime, low_since: datetime | None, silence: Silence) -> bool:
    """Whether an open breaker closes, by since when few enough are silent (None: they are not).

    Displays that come back after a fault of ours come one after another; the last of them would be rebooted by the
    tick that finds the first ones back: the last of all beats an interval after our fault ended. It is a time and not a
    number of ticks: a tick may come twice.
    """
    return low_since is not None and now - low_since >= silence.closes_after


def seen_since(now: datetime, listening_since: datetime | None, heard_until: datetime | None) -> datetime:
    """When SEEN_WITHIN began; time in which we did not listen does not count.

    `heard_until` is the last heartbeat before `listening_since`, or of all while nobody listens; None: there is
    none, or we have listened long enough not to ask.
    """
    if heard_until is None:
        return now - SEEN_WITHIN
    listened = now - listening_since if listening_since is not None else timedelta()
    return heard_until - (SEEN_WITHIN - listened)


def counted_since(open_since: datetime, stored: datetime | None) -> datetime:
    """Since when a client must have been heard to count for a breaker that is open.

    It stays what it was at the opening: the silence that opened it would else be forgotten after a day, with nobody
    heard again. `stored` is None where code of before opened it.
    """
    return stored or open_since - SEEN_WITHIN


def last_look(now: datetime, looked_at: datetime | None) -> datetime:
    """Since when displays fell silent that no look has judged yet; they did so together with those of just before.

    Where no tick ran for an hour, what fell silent at once in that hour did so at once all the same.
    """
    return min(looked_at or now, now)


def why(site: str | None, silence: Silence) -> str:
    """Why a breaker is open, in words. One that only waits to close does not say that many are silent."""
    if is_low(silence):
        where, there = ("", "") if site is None else (f" at {site}", " there")
        return (
            f"So many displays{where} were silent at once that it may have been our own fault; now few enough are."
            f" No silent display{there} is rebooted until that has lasted {in_words(silence.closes_after)},"
            " or an operator releases the breaker."
        )
    share = f"{silence.stale:,} of {silence.seen:,} displays"
    whose = share if site is None else f"At {site}, {share}"
    return (
        f"{whose} are silent: so many at once may be our own fault. No silent display"
        f"{'' if site is None else ' there'} is rebooted until fewer than {FELL_TOGETHER:.0%} are silent,"
        " or an operator releases the breaker."
    )
