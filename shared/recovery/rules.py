"""Why a client is, or is not, being recovered: one pure answer, in words that an operator understands.

Evidence decides the action, the ladder how far it goes, and each obstacle has its state. Whatever is not
known for sure (nobody listened, too many at once, a failure that nobody confirmed) is a reason to wait.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared.clients.reports.rules import in_words
from shared.clients.signs_rules import why_mute
from shared.recovery.breakers.rules import SEEN_WITHIN
from shared.recovery.evidence.rules import Condition, Fleet, evidence, is_heard, is_mute
from shared.vocabulary import CommandAction, Presence, RecoveryBasis, RecoveryState

LADDER: Final = (
    CommandAction.RESTART_APP,
    CommandAction.RESTART_APP,
    CommandAction.REBOOT_HOST,
    CommandAction.REBOOT_HOST,
)
"""What is tried one after another; after the last rung the client is suspended until a person acts."""
MOST_REFUSED: Final = len(LADDER)
"""Commands that a display refuses before it is suspended: refusals are no rungs, but it is not asked without end."""
CRASHED_FOR: Final = timedelta(seconds=20)  # the display's own watchdog goes first (30-commands-and-recovery)
FIRST_HEARTBEAT: Final = 2 / 3  # of its threshold, so at least two intervals, from the moment it came online
LONGEST_SILENCE: Final = SEEN_WITHIN
"""By the raw age of its last heartbeat; no longer than the breakers count, so that nobody is acted on uncounted."""
LOOK_AROUND: Final = 1 / 3  # of its threshold, so at least an interval: who fell silent with it is silent then
FEWEST_PLACES: Final = 10  # commands of recovery open at once, where the setting leaves it to the fleet's size
SHARE_OF_PLACES: Final = 0.02  # of the fleet, less FEWEST_PLACES: within an hour of ticks all of it had its turn
SMALL_FLEET: Final = 10  # with fewer clients one silent display is acted on at a time
RECORDED: Final = (
    RecoveryState.VERIFYING,
    RecoveryState.LOCKED,
    RecoveryState.SUSPENDED,
    RecoveryState.UNREACHABLE,
    RecoveryState.BLOCKED_BRIDGE,
    RecoveryState.HELD,
    RecoveryState.NOT_RECOVERED,
)
"""States in which a tick decides to do nothing about a client; each change of them is recorded.

What a breaker blocks is recorded once, as the breaker's opening.
"""


@dataclass(frozen=True)
class Verdict:
    """`until`: when this ends by itself, where that is known.

    `action`: what the next tick sends, and on what `basis`; None where it sends nothing.
    """

    state: RecoveryState
    why: str
    until: datetime | None = None
    action: CommandAction | None = None
    basis: RecoveryBasis | None = None
    mute: bool = False
    """The display talks, but its heartbeats do not come."""

    @property
    def acts(self) -> bool:
        return self.action is not None


def places(setting: int | str, seen: int) -> int:
    """How many commands of recovery may be open at once, by RECOVERY_MAX_OPEN and the fleet's size."""
    if isinstance(setting, str):
        return max(FEWEST_PLACES, int(SHARE_OF_PLACES * seen) - FEWEST_PLACES)
    return setting


def recovery_state(client: Condition, now: datetime, fleet: Fleet) -> Verdict:
    """What recovery does about an unhealthy client, and why."""
    verdict = _switched_off(fleet) or _before_evidence(client, now, fleet)
    if is_mute(client, now, fleet):
        mute = Verdict(RecoveryState.VERIFYING, why_mute(client.put_aside), mute=True)
        verdict = mute if verdict is None else replace(verdict, why=f"{mute.why} {verdict.why}", mute=True)
    verdict = verdict or _by_evidence(client, now, fleet)
    if client.incident is None or not fleet.enabled:
        return verdict
    return replace(verdict, why=f"{verdict.why} It is part of an incident: {client.incident}")


def _switched_off(fleet: Fleet) -> Verdict | None:
    if fleet.enabled:
        return None
    return Verdict(RecoveryState.OFF, "Automatic recovery is switched off (CRASH_RECOVERY_ENABLED).")


def _before_evidence(client: Condition, now: datetime, fleet: Fleet) -> Verdict | None:
    """What holds whatever the display's state; None where its state decides."""
    if client.open_action is not None:
        return _of_open_command(client, client.open_action, now, fleet)
    if client.hold is not None:
        return Verdict(RecoveryState.HELD, client.hold, client.held_until)
    if fleet.bridge_silent:
        why = "The bridge gives no sign, so what we see may be out of date; nothing is sent until it listens again."
        return Verdict(RecoveryState.BLOCKED_BRIDGE, why)
    if client.step >= len(LADDER):
        return Verdict(RecoveryState.SUSPENDED, _nothing_helped(client, now))
    if client.refused >= MOST_REFUSED:
        return Verdict(RecoveryState.SUSPENDED, f"{refused(client)}: {_A_PERSON}")
    return None


def _of_open_command(client: Condition, action: str, now: datetime, fleet: Fleet) -> Verdict:
    """One that is open for longer than recovery's own could be is not on its way: it is waited for."""
    if client.open_since is None or now - client.open_since <= fleet.command_life:
        why = f"A {action} is on its way; its outcome decides what comes next."
        return Verdict(RecoveryState.IN_FLIGHT, why, client.open_until)
    age = in_words(now - client.open_since)
    why = (
        f"A {action} that {client.open_by} asked for {age} ago has no outcome yet; recovery waits until it has one,"
        " or its time is over, or an admin ends it."
    )
    return Verdict(RecoveryState.LOCKED, why, client.open_until)


def _by_evidence(client: Condition, now: datetime, fleet: Fleet) -> Verdict:
    basis = evidence(client, now, fleet)
    if basis is None:
        return _of_uncertain(client, now, fleet)
    return _obstacle(client, now, fleet, basis) or _due(client, now, fleet, basis)


def _nothing_helped(client: Condition, now: datetime) -> str:
    began = f", the first of them {in_words(now - client.tried_since)} ago" if client.tried_since else ""
    return f"{tried(client)} did not help{began}: {_A_PERSON}"


def tried(client: Condition) -> str:
    """How often what was tried, as the subject of a sentence."""
    return _counted(client.restarts, client.reboots) or "Nothing so far"


def refused(client: Condition) -> str:
    """How often what was refused by the display, and why it refused last; no full stop."""
    why = f" ({client.refused_why})" if client.refused_why else ""
    were = "was" if client.refused == 1 else "were"
    return f"{_counted(client.refused_restarts, client.refused_reboots)} {were} refused by the display{why}"


def _counted(restarts: int, reboots: int) -> str:
    counted = ((restarts, "restart"), (reboots, "reboot"))
    return " and ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in counted if n)


def _of_uncertain(client: Condition, now: datetime, fleet: Fleet) -> Verdict:
    """Unwell, but nothing to act on."""
    if client.last_heartbeat_at is None:
        why = "No heartbeat of the display has come yet; there is nothing to go by."
        return Verdict(RecoveryState.NOT_RECOVERED, why)
    if not is_heard(client, now, fleet):
        since = fleet.listening_since
        if since is not None and client.sign_at is not None and client.sign_at >= since:
            why = "Its reports come again since the bridge listens again; its heartbeats are waited for."
        else:
            why = "The display has not been heard since the bridge listens again; its silence counts from then."
        return Verdict(RecoveryState.BLOCKED_BRIDGE, why, since + client.stale_after if since else None)
    if client.service_failed_unit is not None:
        why = (
            f"The service {client.service_failed_unit} failed, but the display has not said so again since;"
            " acknowledge the failure if all is well."
        )
        return Verdict(RecoveryState.VERIFYING, why)
    return Verdict(RecoveryState.VERIFYING, "The display is heard again; whether it stays well is not known yet.")


def _obstacle(client: Condition, now: datetime, fleet: Fleet, basis: RecoveryBasis) -> Verdict | None:
    """What stands in the way of acting on this evidence; None where nothing does."""
    if _is_unreachable(client, basis):
        return Verdict(RecoveryState.UNREACHABLE, _UNREACHABLE[basis])
    if basis is RecoveryBasis.STALE and (why := _breaker(client, fleet)) is not None:
        return Verdict(RecoveryState.BLOCKED_BREAKER, why)
    if basis is RecoveryBasis.STALE and _is_silent_too_long(client, now):
        return Verdict(RecoveryState.NOT_RECOVERED, _SILENT_TOO_LONG)
    if client.lockout_until is not None and client.lockout_until > now:
        return _locked(client, client.lockout_until)
    action = action_for(basis, client.step)
    if client.capabilities is not None and action not in client.capabilities:
        why = f"{_WRONG[basis]}, but this display says that it cannot do {action}."
        return Verdict(RecoveryState.NOT_RECOVERED, why)
    return None


def _is_unreachable(client: Condition, basis: RecoveryBasis) -> bool:
    """Proof that nobody listened, or the broker's word for it, with no sign of the display since."""
    offline = client.presence is Presence.OFFLINE
    if offline and basis is RecoveryBasis.STALE:
        return True
    came_online_at = client.presence_at if client.presence is Presence.ONLINE else None
    signs = [at for at in (client.last_sign_at, came_online_at) if at is not None]
    gone = (client.unheard_at, client.presence_at if offline else None)
    return any(at is not None and all(sign <= at for sign in signs) for at in gone)


def _breaker(client: Condition, fleet: Fleet) -> str | None:
    """Why no silent display of the fleet, or of this client's site, is acted on; None where they are."""
    of_site = fleet.breakers.get(client.site) if client.site is not None else None
    return fleet.breakers.get(None) or of_site


def _is_silent_too_long(client: Condition, now: datetime) -> bool:
    """Whether no reboot would help: every client that one can help got it within the first day."""
    return client.last_sign_at is not None and now - client.last_sign_at > LONGEST_SILENCE


def _locked(client: Condition, until: datetime) -> Verdict:
    if client.done_action is not None:
        why = f"Recovery's {client.done_action} was done; whether it helped is judged when the lockout ends."
        return Verdict(RecoveryState.VERIFYING, why, until)
    if client.locked_by_refusal:
        why = f"{refused(client)}; it is asked again when the lockout ends."
        return Verdict(RecoveryState.LOCKED, why, until)
    why = "A restart or reboot was sent lately; the display is given time to come back before the next one."
    return Verdict(RecoveryState.LOCKED, why, until)


def action_for(basis: RecoveryBasis, step: int) -> CommandAction:
    """What is tried on this rung: nothing but a reboot reaches a player that hangs."""
    return CommandAction.REBOOT_HOST if basis is RecoveryBasis.STALE else LADDER[step]


def _due(client: Condition, now: datetime, fleet: Fleet, basis: RecoveryBasis) -> Verdict:
    since = client.process_status_since or now
    if basis is RecoveryBasis.CRASHED and now - since < CRASHED_FOR:
        why = "The player crashed a moment ago; the display's own watchdog goes first."
        return Verdict(RecoveryState.DUE, why, since + CRASHED_FOR)
    if basis is RecoveryBasis.STALE and (until := _looks_around_until(client, fleet)) > now:
        why = "The display fell silent a moment ago; whether many others did too is seen first."
        return Verdict(RecoveryState.DUE, why, until)
    if basis is RecoveryBasis.STALE and (until := _listened_to_until(client, now)) > now:
        why = "The display came online a moment ago; its first heartbeat is waited for."
        return Verdict(RecoveryState.DUE, why, until)
    if basis is RecoveryBasis.STALE and fleet.late is not None:
        return Verdict(RecoveryState.DUE, fleet.late)
    action = action_for(basis, client.step)
    before = (f" {tried(client)} did not help so far." if client.step else "") + _refused_before(client)
    why = f"{_WRONG[basis]}; the next tick with a place free sends {action}.{before}"
    return Verdict(RecoveryState.DUE, why, action=action, basis=basis)


def _looks_around_until(client: Condition, fleet: Fleet) -> datetime:
    """When a silence that is ours has become that of everybody whom it concerns.

    Displays that are all unheard from one moment on go stale one after another, within one interval; the first of
    them would be rebooted by a tick in the middle of it, which sees too few for a breaker.
    """
    moments = [at for at in (client.last_sign_at, fleet.listening_since) if at is not None]
    return max(moments) + client.stale_after * (1 + LOOK_AROUND)


def _listened_to_until(client: Condition, now: datetime) -> datetime:
    """Until when a display that came online without a heartbeat yet is believed to be about to send one.

    A network comes back for the connection first: a tick between the two would reboot a display that is well. What
    came while the database's clock was ahead counts as long ago, or a step of it would hold recovery up.
    """
    if client.presence is not Presence.ONLINE or client.presence_at is None or client.presence_at > now:
        return now
    return client.presence_at + client.stale_after * FIRST_HEARTBEAT


def why_acted(client: Condition, verdict: Verdict) -> str:
    """Why this was sent, for the record."""
    basis = verdict.basis or RecoveryBasis.CRASHED
    before = (f" {tried(client)} did not help." if client.step else "") + _refused_before(client)
    return f"{_WRONG[basis]}: {verdict.action}, attempt {client.step + 1} of {len(LADDER)}.{before}"


def _refused_before(client: Condition) -> str:
    return f" {refused(client)}." if client.refused else ""


_A_PERSON: Final = "nothing is sent any more until a person acts and resumes recovery."
_SILENT_TOO_LONG: Final = (
    "The display has been silent for more than a day: no reboot cures that, so nothing is sent by itself."
    " Somebody has to look at it."
)
_WRONG: Final = {
    RecoveryBasis.CRASHED: "The player crashed and the heartbeat that says so is fresh",
    RecoveryBasis.SERVICE_FAILED: "A service failed and the display is heard",
    RecoveryBasis.STALE: "The display is silent while we listen, and the broker does not say that it left",
}
_UNREACHABLE: Final = {
    RecoveryBasis.CRASHED: "The player crashed, but nobody listens at the display;"
    " recovery tries again after its next heartbeat.",
    RecoveryBasis.SERVICE_FAILED: "A service failed, but nobody listens at the display;"
    " recovery tries again after its next heartbeat.",
    RecoveryBasis.STALE: "The display is silent and not connected: nothing can be sent to it.",
}
