"""The truth about displays, whatever the database has: which talk, which work, and which no command can help."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from tests.lab.simulation.ailments import GLASS
from tests.lab.simulation.display import Display

BLINDNESS: Final = 30.0 + 45.0
"""Seconds by which the service may be behind a display: one heartbeat, and the allowed age of a canary."""
HEALTH_REPORTS: Final = 5
"""Intervals until a display has reported the end of a failure: one health report in four, and one may be lost."""
GLASS_LASTS: Final = 300.0
"""Seconds for which a health report about a screen is valid: the next ones may be lost."""
DARK: Final = 120.0
"""Seconds until the broker notices that a display has gone: keepalive, session expiry, and some room."""
SHARED: Final = 300.0
"""Seconds after which the service must know that two devices share a login."""
COUNTERS_HEAL: Final = 90.0
"""Seconds after which the service accepts again a display whose counters went back."""


class Truth:
    """The judge's own record, independent of the database."""

    def __init__(
        self, displays: Mapping[str, Display], clock: Callable[[], float], moment: Callable[[], float]
    ) -> None:
        """`clock`: seconds of the service; `moment`: seconds of the agenda, without skipped time."""
        self.twins: dict[str, Display] = {}  # uuid -> the second device with this login
        self.deleted: set[str] = set()
        self._displays, self._clock, self._moment = displays, clock, moment
        self._heard_at: dict[str, float] = {}
        self._heard_since: dict[str, float] = {}

    # --- which displays talk ---

    def took(self, topic: str) -> None:
        """The bridge read a new message. Presence is not a sign, because a dead display's connection has it too."""
        _root, uuid, kind, *_ = topic.split("/")
        if kind in {"presence", "canary"}:
            return
        now = self._clock()
        if uuid not in self._heard_at or now - self._heard_at[uuid] > COUNTERS_HEAL:
            self._heard_since[uuid] = self._moment()
        self._heard_at[uuid] = now

    def quiet(self) -> dict[str, timedelta]:
        """Uuid -> time since the bridge last read a message of it; displays that were never heard are missing."""
        now = self._clock()
        return {uuid: timedelta(seconds=now - at) for uuid, at in self._heard_at.items()}

    def leap(self, seconds: float, longest: float) -> list[str]:
        """Time will be skipped: displays that were heard within `longest` talk meanwhile. Returns their uuids."""
        now = self._clock()
        talking = [uuid for uuid, at in self._heard_at.items() if now - at <= longest]
        for uuid in talking:
            self._heard_at[uuid] += seconds
        return talking

    def heard_since(self, sound_since: float) -> dict[str, float]:
        """Uuid of a reachable display -> since when, by the agenda, it talks without a pause."""
        return {
            uuid: max(self._heard_since.get(uuid, float("inf")), display.up_since, sound_since)
            for uuid, display in self._displays.items()
            if display.is_reachable and uuid not in self.deleted and uuid not in self.twins
        }

    # --- which displays a command can help ---

    def is_unsure(self, uuid: str) -> bool:
        """Whether its reports may be wrong without a fault of the service, so that recovery need not act."""
        display = self._displays[uuid]
        went_back_at = display.went_back_at
        is_healing = went_back_at is not None and self._moment() - went_back_at < COUNTERS_HEAL + BLINDNESS
        return uuid in self.twins or not display.conduct.is_sound or is_healing

    def why_needless(self, uuid: str, sound_since: float) -> str | None:
        """Why an automatic command to this display is needless now; None if one may be right.

        Two devices with one login take the connection from each other, so the age of a connection proves nothing.
        """
        display, twin, now = self._displays[uuid], self.twins.get(uuid), self._moment()
        if twin is not None and twin.is_on and display.is_on:
            shared_for = now - max(display.lit_at, twin.lit_at, sound_since)
            return f"two devices share its login for {shared_for:.0f} s" if shared_for > SHARED else None
        if display.is_ill or not display.is_reachable:
            return None
        works_since = max(display.last_ill_at or 0.0, display.up_since, self._believed_from(display))
        works_for = now - works_since - self._slack(display)
        return f"it works and talks, for {now - works_since:.0f} s by now" if works_for > 0 else None

    def is_dark(self, uuid: str) -> bool:
        """Whether it has had no power or network for so long that nothing may be sent to it."""
        display = self._displays[uuid]
        return display.dark_since is not None and self._moment() - display.dark_since > DARK

    def _believed_from(self, display: Display) -> float:
        return 0.0 if display.went_back_at is None else display.went_back_at + COUNTERS_HEAL

    def _slack(self, display: Display) -> float:
        """How long its last fault may still be assumed: a failure until a health report ends it."""
        failed = display.last_ill_kind == "failed"
        if failed and "health" in display.conduct.spoils:
            return float("inf")
        believed = HEALTH_REPORTS * display.nature.interval if failed else believed_of_glass(display)
        return BLINDNESS + display.nature.interval + believed


def believed_of_glass(display: Display) -> float:
    """Seconds for which the last report of a screen's fault may outlive the fault."""
    return GLASS_LASTS if display.last_ill_kind in GLASS else 0.0
