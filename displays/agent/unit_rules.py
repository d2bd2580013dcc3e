"""Translate the states of systemd's units into the contract's words. Pure."""

from collections import deque
from dataclasses import dataclass
from typing import Final

LOOP_STARTS: Final = 3  # restarts within the window that count as a loop
LOOP_WINDOW_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """A unit's state, as systemd reports it."""

    name: str
    load: str = "unknown"  # loaded, not-found, masked, bad-setting, ...
    active: str = "unknown"  # active, activating, deactivating, inactive, failed, reloading
    sub: str = ""
    invocation: str = ""  # id of the present start; empty before the first start
    result: str = ""  # how the service ended last: success, exit-code, signal, ...
    restarts: int = 0  # how often systemd restarted it

    @property
    def is_missing(self) -> bool:
        return self.load not in {"loaded", "unknown"}


class Loop:
    """Detects a unit that systemd restarts again and again. `now` is in monotonic seconds."""

    def __init__(self) -> None:
        self._restarts: int | None = None  # None: systemd's count is not known yet
        self._at: deque[float] = deque()

    def seen(self, facts: UnitFacts, now: float) -> None:
        """Note systemd's count of restarts; a lower count than before starts anew.

        The first count says nothing: these restarts may be days old.
        """
        before = facts.restarts if self._restarts is None else self._restarts
        if facts.restarts < before:
            self._at.clear()
        self._at.extend([now] * min(LOOP_STARTS, max(0, facts.restarts - before)))
        self._restarts = facts.restarts

    def is_on(self, now: float) -> bool:
        """Whether the unit had too many restarts within the last minute."""
        while self._at and self._at[0] < now - LOOP_WINDOW_SECONDS:
            self._at.popleft()
        return len(self._at) >= LOOP_STARTS


def process_status(facts: UnitFacts, *, looping: bool, before: str = "unknown") -> str:
    """The player's state in the contract's words. `before`, the last one, stays when systemd's state has no such word.

    A player in a restart loop has crashed, whatever its state at this moment.
    """
    if facts.is_missing:
        return "unknown"
    if facts.active == "failed" or looping:
        return "crashed"
    words = {"active": "running", "reloading": "running", "activating": "starting", "inactive": "stopped"}
    return words.get(facts.active, before)


def has_failed(facts: UnitFacts, *, looping: bool) -> bool:
    """Whether the unit failed, so that the agent reports it."""
    return facts.active == "failed" or (looping and not facts.is_missing)


def in_words(facts: UnitFacts, *, looping: bool) -> str:
    """The unit's state in words for a person."""
    if facts.load == "unknown":
        return "systemd has not reported its state yet"
    if facts.load == "not-found":
        return "there is no such unit on this machine"
    if facts.is_missing:
        return f"systemd cannot load it ({facts.load})"
    if looping:
        return f"it ends again and again ({facts.restarts} restarts)"
    if facts.active == "failed":
        return f"it has failed ({facts.result or 'no result'})"
    return {"active": "it runs", "inactive": "it is stopped", "activating": "it is starting"}.get(
        facts.active, facts.active
    )
