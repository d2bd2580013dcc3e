"""Why a client is, or is not, being recovered: one pure answer, in words that an operator understands.

First cut: only a display whose fresh heartbeat says `crashed` is acted on, by one restart_app a lockout.
Silent displays are never acted on: their silence may be ours.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.vocabulary import ClientStatus, CommandAction, Presence, ProcessStatus, RecoveryState

CRASHED_FOR: Final = timedelta(seconds=20)  # the display's own watchdog goes first (30-commands-and-recovery)
OBSTACLES: Final = (
    RecoveryState.LOCKED,
    RecoveryState.UNREACHABLE,
    RecoveryState.BLOCKED_BRIDGE,
    RecoveryState.NOT_RECOVERED,
)
"""States in which a tick decides to do nothing; each change of them is recorded."""


@dataclass(frozen=True)
class Condition:
    """What is known of one client when it is asked what recovery does about it."""

    process_status: ProcessStatus
    process_status_since: datetime | None
    last_heartbeat_at: datetime | None
    stale_after: timedelta
    """Silence beyond which this client's heartbeat proves nothing any more."""
    presence: Presence
    presence_at: datetime | None
    service_failed_unit: str | None
    capabilities: Collection[str] | None
    """Actions it can do; None means all."""
    lockout_until: datetime | None
    open_action: str | None
    """Action of its open command; None when it has none."""
    open_until: datetime | None
    unheard_at: datetime | None
    """When its latest recovery command was answered that nobody listens; None when it was not."""


@dataclass(frozen=True)
class Verdict:
    """`until`: when this ends by itself, where that is known. `acts`: the next tick sends restart_app."""

    state: RecoveryState
    why: str
    until: datetime | None = None
    acts: bool = False


def is_unwell(status: str, process_status: str, service_failed_at: datetime | None) -> bool:
    """Whether people ask what recovery does about it: crashed, silent or with a failed service."""
    return (
        status in {ClientStatus.CRASHED, ClientStatus.STALE}
        or process_status == ProcessStatus.CRASHED
        or service_failed_at is not None
    )


def recovery_state(client: Condition, now: datetime, *, enabled: bool, bridge_silent: bool) -> Verdict:
    """What recovery does about an unhealthy client, and why."""
    if not enabled:
        return Verdict(RecoveryState.OFF, "Automatic recovery is switched off (CRASH_RECOVERY_ENABLED).")
    if client.open_action is not None:
        why = f"A {client.open_action} is on its way; its outcome decides what comes next."
        return Verdict(RecoveryState.IN_FLIGHT, why, client.open_until)
    if bridge_silent:
        why = "The bridge gives no sign, so what we see may be out of date; nothing is sent until it listens again."
        return Verdict(RecoveryState.BLOCKED_BRIDGE, why)
    if not _is_fresh(client, now):
        return _of_silent(client)
    if client.process_status is ProcessStatus.CRASHED:
        return _of_crashed(client, now)
    why = f"The service {client.service_failed_unit} failed; failed services are left to a person."
    return Verdict(RecoveryState.NOT_RECOVERED, why)


def _is_fresh(client: Condition, now: datetime) -> bool:
    return client.last_heartbeat_at is not None and now - client.last_heartbeat_at <= client.stale_after


def _of_silent(client: Condition) -> Verdict:
    if client.presence is Presence.OFFLINE:
        why = "The display is silent and the broker says that it is not connected: nothing can be sent to it."
        return Verdict(RecoveryState.UNREACHABLE, why)
    why = "The display is silent; silent displays are not acted on automatically, send a command if it should restart."
    return Verdict(RecoveryState.NOT_RECOVERED, why)


def _of_crashed(client: Condition, now: datetime) -> Verdict:
    """The player crashed and the heartbeat that says so is fresh: the first obstacle, or due."""
    if client.capabilities is not None and CommandAction.RESTART_APP not in client.capabilities:
        return Verdict(RecoveryState.NOT_RECOVERED, "The player crashed, but this display cannot do restart_app.")
    if client.lockout_until is not None and client.lockout_until > now:
        why = "A restart or reboot was sent lately; the display is given time to come back before the next one."
        return Verdict(RecoveryState.LOCKED, why, client.lockout_until)
    if _is_unreachable(client):
        why = "The player crashed, but nobody listens at the display; recovery tries again after its next heartbeat."
        return Verdict(RecoveryState.UNREACHABLE, why)
    since = client.process_status_since or now
    if now - since < CRASHED_FOR:
        why = "The player crashed a moment ago; the display's own watchdog goes first."
        return Verdict(RecoveryState.DUE, why, since + CRASHED_FOR)
    return Verdict(RecoveryState.DUE, "The player crashed; the next tick sends restart_app.", acts=True)


def _is_unreachable(client: Condition) -> bool:
    """Proof that nobody listened, or the broker's word for it, with no heartbeat since."""
    gone_at = client.presence_at if client.presence is Presence.OFFLINE else None
    heard_at = client.last_heartbeat_at
    return any(at is not None and heard_at is not None and heard_at <= at for at in (client.unheard_at, gone_at))
