"""What the states of systemd's units mean for a display. Pure."""

from collections import deque
from dataclasses import dataclass
from typing import Final

LOOP_STARTS: Final = 3  # so many restarts within the window are a loop
LOOP_WINDOW_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """A unit as systemd tells of it."""

    name: str
    load: str = "unknown"  # loaded, not-found, masked, bad-setting, ...
    active: str = "unknown"  # active, activating, deactivating, inactive, failed, reloading
    sub: str = ""
    invocation: str = ""  # new at each start; empty before the first
    result: str = ""  # of a service: success, exit-code, signal, ...
    restarts: int = 0  # by systemd itself

    @property
    def is_missing(self) -> bool:
        return self.load not in {"loaded", "unknown"}


class Loop:
    """Whether a unit is started again and again. `now` is monotonic seconds."""

    def __init__(self) -> None:
        self._restarts = 0
        self._at: deque[float] = deque()

    def seen(self, facts: UnitFacts, now: float) -> None:
        """Note how often systemd has restarted it; a lower number begins anew."""
        if facts.restarts < self._restarts:
            self._at.clear()
        self._at.extend([now] * min(LOOP_STARTS, max(0, facts.restarts - self._restarts)))
        self._restarts = facts.restarts

    def is_on(self, now: float) -> bool:
        """Were there too many restarts within the last minute?"""
        while self._at and self._at[0] < now - LOOP_WINDOW_SECONDS:
            self._at.popleft()
        return len(self._at) >= LOOP_STARTS


def process_status(facts: UnitFacts, *, looping: bool, before: str = "unknown") -> str:
    """The player's state in the contract's words; `before` is the word of the moment before.

    A player that dies again and again has crashed, whatever it is at this moment.
    """
    if facts.is_missing:
        return "unknown"
    if facts.active == "failed" or looping:
        return "crashed"
    words = {"active": "running", "reloading": "running", "activating": "starting", "inactive": "stopped"}
    return words.get(facts.active, before)


def has_failed(facts: UnitFacts, *, looping: bool) -> bool:
    """Is it a failure worth telling?"""
    return facts.active == "failed" or (looping and not facts.is_missing)


def in_words(facts: UnitFacts, *, looping: bool) -> str:
    """What a person reads about the unit."""
    if facts.load == "unknown":
        return "systemd has not told about it yet"
    if facts.load == "not-found":
        return "there is no such unit on this machine"
    if facts.is_missing:
        return f"systemd cannot load it ({facts.load})"
    if looping:
        return f"it dies again and again ({facts.restarts} restarts)"
    if facts.active == "failed":
        return f"it has failed ({facts.result or 'no result'})"
    return {"active": "it runs", "inactive": "it is stopped", "activating": "it is starting"}.get(
        facts.active, facts.active
    )
