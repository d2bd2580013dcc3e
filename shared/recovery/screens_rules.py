"""What recovery does about a failing screen, and when too many fail at once to act on any."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from shared.recovery import words_rules
from shared.recovery.breakers.rules import TOGETHER, Silence
from shared.vocabulary import RecoveryState, ScreenHealthStatus
from shared.words.sentences import Sentence

LOOK_AROUND: Final = timedelta(seconds=60)
"""Wait so long after a screen failed: the other screens with the same cause have reported by then."""


def of_screen(screen: ScreenHealthStatus) -> tuple[RecoveryState, Sentence]:
    """What recovery does about a failing screen when it has no evidence to act on, and why."""
    if screen is ScreenHealthStatus.DISCONNECTED:
        return RecoveryState.NOT_RECOVERED, words_rules.screen_disconnected()
    if screen is ScreenHealthStatus.OFF:
        return RecoveryState.NOT_RECOVERED, words_rules.screen_off()
    if screen is ScreenHealthStatus.WRONG_PAGE:
        return RecoveryState.NOT_RECOVERED, words_rules.screen_wrong_page()
    return RecoveryState.VERIFYING, words_rules.screen_unproven(screen=screen)


class FailingScreen(Struct, frozen=True):
    """A screen that another start of the player may mend."""

    site: str | None
    failed_at: datetime


def counted(telling: int, failing: Sequence[FailingScreen]) -> Silence:
    """The numbers of these failing screens, beside the displays that tell how their screen is.

    The limits for breakers are those for silent displays.
    """
    moments = sorted(one.failed_at for one in failing)
    first = most = 0
    for last, moment in enumerate(moments, 1):
        while moment - moments[first] > TOGETHER:
            first += 1
        most = max(most, last - first)
    return Silence(telling, len(moments), most)
