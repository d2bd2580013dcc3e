"""When a screen without a picture is a failure of its display.

One report proves nothing: a screen is black for a moment while the player starts.
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from shared.vocabulary import WITHOUT_PICTURE, GlassKind, ScreenHealthStatus

SURE_AFTER: Final = timedelta(seconds=20)  # between the first and the last report; a fast reporter needs more than two
IN_A_ROW: Final = timedelta(minutes=15)  # reports further apart say nothing of the time between them
LASTS: Final = timedelta(minutes=5)  # so old a report proves no present state; the broker drops it then


class SeenScreen(Struct, frozen=True):
    """What a display's health reports say of its screen."""

    screen: ScreenHealthStatus
    since: datetime | None
    """When the first of the reports in a row came; None: there is a picture, or nobody knows."""
    before_at: datetime | None
    """When the report before the newest one came."""
    at: datetime
    """When the newest one came."""


def fails(seen: SeenScreen, *, planned: bool) -> bool:
    """Whether the screen fails. `planned`: somebody wants the screen off, or the display left alone."""
    if seen.screen not in WITHOUT_PICTURE or (seen.screen is ScreenHealthStatus.OFF and planned):
        return False
    return in_a_row(seen)


def in_a_row(seen: SeenScreen) -> bool:
    """Whether at least two reports in a row say the same of a screen. `screens_store.in_a_row` is its SQL."""
    if seen.since is None or seen.before_at is None:
        return False
    return seen.since <= seen.before_at and seen.at - seen.before_at <= IN_A_ROW and seen.at - seen.since >= SURE_AFTER


class SeenPage(Struct, frozen=True):
    """What a display sees on its screen. Address and title come seldom; null: not told yet, or there are none."""

    kind: GlassKind
    name: str | None = None
    address: str | None = None
    title: str | None = None

    def after(self, before: "SeenPage | None") -> "SeenPage":
        """With address and title of the page before if it is the same. `health_store.page_after` is its SQL."""
        return before if self.address is None and before is not None and before.name == self.name else self
