"""What a look at the screen means: a word of the contract, and the reason for people. Pure; times are monotonic.

A page fails only when two looks, 10 s apart, find the same; a crash is no matter of opinion and counts at once.
"""

from dataclasses import dataclass
from typing import Final

from displays.agent.picture import Glimpse
from displays.agent.settings import HEALTH_SECONDS
from displays.client.contract import BAD_SCREENS

PAGE, ERROR, CRASHED, NOTHING, PROGRAM = "page", "error", "crashed", "nothing", "program"
"""What is on the screen, in the contract's words."""
BAD_STATUS: Final = 400  # an HTTP status from here on is an error page
LOOK_SECONDS: Final = 30.0  # between two looks
CONFIRM_SECONDS: Final = 20.0  # after the first report of a fault comes the second: one alone proves nothing
NO_PAGE_SECONDS: Final = 120.0  # a player that runs has this time to show a page
LIT_SECONDS: Final = 150.0  # lit pixels on black that do not change in this time are no clock
DARK: Final = 16  # the brightness of the brightest pixel of a black page
WHITE: Final = 250  # of the darkest pixel of a white one
SMALL: Final = 0.15  # a window with a smaller share of the screen leaves the screen to something else
STILL_MARK, BLACK_MARK = "still", "black"
CRASH: Final = "the page of the player has crashed"


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the page saw."""

    kind: str = PAGE
    draws: bool = False
    address: str = ""
    title: str = ""
    status: int = 0  # HTTP status of the main document; 0: none
    marks: frozenset[str] = frozenset()  # what the page says of itself in <meta name="signage">
    standing: frozenset[str] = frozenset()  # videos that say they play, and the place where they stand
    covers: float = 1.0  # the share of the screen that the page's window covers
    glimpse: Glimpse | None = None  # None: Chromium gave no picture


@dataclass(frozen=True, slots=True)
class Player:
    """The player as systemd shows it."""

    start: str = ""  # names its present start
    runs: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """The health of the screen, and why it is bad."""

    word: str
    why: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether one look is enough."""
        return self.word in {"ok", "unknown", "no_page"} or self.why == CRASH


class Rhythm:
    """When a health report is due, and the next look."""

    def __init__(self) -> None:
        self._word = ""  # as it was told last
        self._told_at = 0.0
        self._is_new = False

    def is_due(self, word: str, now: float) -> bool:
        """Whether to report now: another word, a second report of a fault, or the usual report."""
        changed = word != self._word
        if not (changed or self._is_new or now - self._told_at >= HEALTH_SECONDS - LOOK_SECONDS / 2):
            return False
        self._is_new = changed and word in BAD_SCREENS
        self._word, self._told_at = word, now
        return True

    @property
    def pause(self) -> float:
        """The seconds until the next look."""
        return CONFIRM_SECONDS if self._is_new else LOOK_SECONDS


def of_the_page(look: Look, before: Look | None, stood: float, *, black_is_allowed: bool) -> Verdict:
    """Judge a page. `before`: the look before, if the page is the same; `stood`: for how long its picture stands."""
    faults = (
        (look.kind == CRASHED, "frozen", CRASH),
        (look.kind == ERROR and look.status == 0, "error_page", "the player shows an error page of the browser"),
        (look.kind == ERROR, "error_page", f"the page of the player was answered with HTTP {look.status}"),
        (not look.draws, "frozen", "the page of the player draws no frame"),
        (look.covers < SMALL, "no_page", f"the player's window covers {look.covers:.0%} of the screen"),
        (_video_stands(look, before), "frozen", "a video of the page says that it plays, and stands still"),
        (look.glimpse is None, "unknown", "the browser gives no picture of the page"),
        (_is_black(look, stood) and not black_is_allowed, "black", "the page of the player is black"),
        (look.glimpse is not None and look.glimpse.darkest >= WHITE, "white", "the page of the player is white"),
    )
    return next((Verdict(word, why) for holds, word, why in faults if holds), Verdict("ok"))


def _video_stands(look: Look, before: Look | None) -> bool:
    """Whether a video stands where it stood at the look before; without one before it may."""
    if not look.standing or STILL_MARK in look.marks:
        return False
    return before is None or not look.standing.isdisjoint(before.standing)


def _is_black(look: Look, stood: float) -> bool:
    """Whether nothing is lit, or only what never changes. A page may say that it is black by design."""
    seen = look.glimpse
    if seen is None or BLACK_MARK in look.marks:
        return False
    return seen.brightest <= DARK or (seen.is_dark and stood >= LIT_SECONDS)


def without_page(player: Player, answered: str | None, waited: float, why: str, *, answers: bool) -> Verdict:
    """Judge a player whose browser shows no page. `waited`: since its start, or since it last had a page.

    `answered`: the start in which DevTools answered last; `answers`: whether it does now.
    """
    if not player.runs:
        return Verdict("unknown", why)
    if not answers and answered == player.start:
        return Verdict("hung", f"the browser hangs or is gone: {why}")
    if waited >= NO_PAGE_SECONDS:
        return Verdict("no_page", f"the player runs without a page: {why}")
    return Verdict("unknown", why)
