"""What truly was so, whatever the database says: who talks, who works, and whom no command can help."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from tests.lab.simulation.display import Display

BLINDNESS: Final = 30.0 + 45.0
"""Seconds that we may be behind a display: one heartbeat, and the age that a canary may have."""
HEALTH_REPORTS: Final = 5
"""Intervals until a display has said that nothing fails any more: one health report in four, and one to be lost."""
DARK: Final = 120.0
"""Seconds after which the broker knows that a display is gone: keepalive, the session's end, and room."""
SHARED: Final = 300.0
"""Seconds after which it must be known that two devices share a login."""
COUNTERS_HEAL: Final = 90.0
"""Seconds after which a display whose counters went back is believed again."""


class Truth:
    """Kept by the judge beside the database."""

    def __init__(
        self, displays: Mapping[str, Display], clock: Callable[[], float], moment: Callable[[], float]
    ) -> None:
        """`clock`: seconds that passed for the service; `moment`: those of the agenda, in which no time is leapt."""
        self.twins: dict[str, Display] = {}  # the second device with the login of a display
        self.deleted: set[str] = set()
        self._displays, self._clock, self._moment = displays, clock, moment
        self._heard_at: dict[str, float] = {}
        self._heard_since: dict[str, float] = {}

    # --- who talks ---

    def took(self, topic: str) -> None:
        """A message that was sent just now is taken in. Presence is no sign: a dead display's connection has it too."""
        _root, uuid, kind, *_ = topic.split("/")
        if kind in {"presence", "canary"}:
            return
        now = self._clock()
        if uuid not in self._heard_at or now - self._heard_at[uuid] > COUNTERS_HEAL:
            self._heard_since[uuid] = self._moment()
        self._heard_at[uuid] = now

    def quiet(self) -> dict[str, timedelta]:
        """For how long nothing of each display was taken; those that were never heard are missing."""
        now = self._clock()
        return {uuid: timedelta(seconds=now - at) for uuid, at in self._heard_at.items()}

    def leap(self, seconds: float, longest: float) -> list[str]:
        """Time is about to be leapt: who was heard within `longest` goes on talking meanwhile."""
        now = self._clock()
        talking = [uuid for uuid, at in self._heard_at.items() if now - at <= longest]
        for uuid in talking:
            self._heard_at[uuid] += seconds
        return talking

    def heard_since(self, sound_since: float) -> dict[str, float]:
        """Since when, by the agenda, each display that can be told something talks without a pause."""
        return {
            uuid: max(self._heard_since.get(uuid, float("inf")), display.up_since, sound_since)
            for uuid, display in self._displays.items()
            if display.is_reachable and uuid not in self.deleted and uuid not in self.twins
        }

    # --- whom it helps ---

    def is_unsure(self, uuid: str) -> bool:
        """Whether what we are told of it may be wrong by no fault of ours: acting on it is no duty."""
        display = self._displays[uuid]
        went_back_at = display.went_back_at
        is_healing = went_back_at is not None and self._moment() - went_back_at < COUNTERS_HEAL + BLINDNESS
        return uuid in self.twins or not display.conduct.is_sound or is_healing

    def why_needless(self, uuid: str, sound_since: float) -> str | None:
        """Why no automatic command to this display can be right now; None where one may be.

        Two devices with one login take its connection from each other: how long each connection lasts says nothing.
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
        """Whether it has been without power or network for so long that nothing can be sent to it."""
        display = self._displays[uuid]
        return display.dark_since is not None and self._moment() - display.dark_since > DARK

    def _believed_from(self, display: Display) -> float:
        return 0.0 if display.went_back_at is None else display.went_back_at + COUNTERS_HEAL

    def _slack(self, display: Display) -> float:
        """What was wrong last may be believed for so long: a failure until a health report says that it is over."""
        failed = display.last_ill_kind == "failed"
        if failed and "health" in display.conduct.spoils:
            return float("inf")
        return BLINDNESS + display.nature.interval + (HEALTH_REPORTS * display.nature.interval if failed else 0.0)
