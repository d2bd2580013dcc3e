"""Decide what recovery does about a client, and explain it to operators.

The evidence decides the action, the ladder limits the attempts, and each obstacle has a state. Uncertainty is a reason
to wait: the bridge did not listen, too many displays are silent at once, or nothing confirms a failure.
"""

from datetime import datetime, timedelta
from typing import Final, TypedDict, cast

from msgspec import Struct
from msgspec.structs import replace

from shared.clients.signs_rules import why_mute
from shared.commands.rules import RESULT_WITHIN, USUAL_TTL, is_able
from shared.quiet.rules import AFTER_OPENING
from shared.recovery import words_rules
from shared.recovery.breakers.rules import SEEN_WITHIN
from shared.recovery.evidence.rules import Fleet, RecoveryFacts, evidence, is_heard, is_mute, why_held
from shared.recovery.screens_rules import LOOK_AROUND as LOOK_AT_SCREENS
from shared.recovery.screens_rules import of_screen
from shared.vocabulary import CommandAction, Presence, RecoveryBasis, RecoveryState, ScreenHealthStatus
from shared.words.facts import rounded
from shared.words.sentences import Sentence, together

LADDER: Final = (
    CommandAction.RESTART_APP,
    CommandAction.RESTART_APP,
    CommandAction.REBOOT_HOST,
    CommandAction.REBOOT_HOST,
)
"""The attempts in order; after the last rung the client is suspended until a person acts."""
COMMAND_LIFE: Final = max(USUAL_TTL[action] + RESULT_WITHIN[action] for action in LADDER)
"""How long a command of recovery can be open: its time to live and the time for its result."""
MOST_REFUSED: Final = len(LADDER)
"""A display that refuses so many commands is suspended. A refusal is not a rung."""
CRASHED_FOR: Final = timedelta(seconds=20)  # the display's own watchdog gets this time first
FIRST_HEARTBEAT: Final = 2 / 3  # of the threshold, at least two intervals: the time for the first heartbeat when online
LONGEST_SILENCE: Final = SEEN_WITHIN
"""Recovery does not act on longer silence (age of the last sign of life): the breakers do not count it either."""
LOOK_AROUND: Final = 1 / 3  # of the threshold, at least an interval: then others that fell silent too are stale
SMALLEST_CAP: Final = 10  # on the open commands of recovery
SHARE_OF_FLEET: Final = 0.02  # less SMALLEST_CAP: an hour of ticks reaches the whole fleet
SMALL_FLEET: Final = 10  # with fewer clients recovery acts on one silent display at a time
RECORDED: Final = (
    RecoveryState.VERIFYING,
    RecoveryState.LOCKED,
    RecoveryState.SUSPENDED,
    RecoveryState.UNREACHABLE,
    RecoveryState.BLOCKED_BRIDGE,
    RecoveryState.HELD,
    RecoveryState.NOT_RECOVERED,
)
"""States in which a tick does nothing about a client; each change to one of them is recorded.

BLOCKED_BREAKER is missing: the events of the breaker itself are recorded instead.
"""


class Verdict(Struct, frozen=True):
    """What recovery does about a client, and why.

    `until`: when the state ends by itself, if known. `action`: the command that the next tick sends, and its `basis`;
    None when it sends nothing.
    """

    state: RecoveryState
    why: Sentence
    until: datetime | None = None
    action: CommandAction | None = None
    basis: RecoveryBasis | None = None
    mute: bool = False
    """The display sends messages, but no heartbeats."""

    @property
    def acts(self) -> bool:
        return self.action is not None


class ShownRecovery(Struct, frozen=True):
    """What every view of an unwell client shows of recovery."""

    state: RecoveryState
    why: Sentence
    until: datetime | None
    """When this ends by itself, where that is known."""
    mute: bool
    """The display talks, but its heartbeats do not come."""
    step: int
    """Rungs of the ladder used."""


def cap(seen: int) -> int:
    """How many commands of recovery may be open at once, by the number of displays that were heard in a day."""
    return max(SMALLEST_CAP, int(SHARE_OF_FLEET * seen) - SMALLEST_CAP)


def recovery_state(client: RecoveryFacts, now: datetime, fleet: Fleet) -> Verdict:
    """What recovery does about an unhealthy client, and why."""
    verdict = _switched_off(fleet) or _before_evidence(client, now, fleet)
    if is_mute(client, now, fleet):
        missing = why_mute(client.put_aside or {})
        if verdict is None:
            verdict = Verdict(RecoveryState.VERIFYING, missing, mute=True)
        else:
            verdict = replace(verdict, why=together([missing, verdict.why]), mute=True)
    verdict = verdict or _by_evidence(client, now, fleet)
    if (incident := fleet.incidents.get(client.uuid)) is None or not fleet.enabled:
        return verdict
    return replace(verdict, why=together([verdict.why, words_rules.part_of_incident(), incident]))


def _switched_off(fleet: Fleet) -> Verdict | None:
    if fleet.enabled:
        return None
    return Verdict(RecoveryState.OFF, words_rules.recovery_off())


def _before_evidence(client: RecoveryFacts, now: datetime, fleet: Fleet) -> Verdict | None:
    """The verdict that does not depend on the display's state; None when the state decides."""
    if client.open_action is not None:
        return _of_open_command(client, cast("CommandAction", client.open_action), now)
    if (held := why_held(client, now, fleet)) is not None:
        return Verdict(RecoveryState.HELD, *held)
    if fleet.bridge_silent:
        return Verdict(RecoveryState.BLOCKED_BRIDGE, words_rules.bridge_silent())
    if client.step >= len(LADDER):
        return Verdict(RecoveryState.SUSPENDED, _nothing_helped(client, now))
    if client.refused >= MOST_REFUSED:
        return Verdict(RecoveryState.SUSPENDED, words_rules.all_refused(**_refused(client)))
    return None


def _of_open_command(client: RecoveryFacts, action: CommandAction, now: datetime) -> Verdict:
    """The verdict for an open command. A command open for longer than recovery's own could be is another's: wait."""
    since = client.open_created_at
    if since is None or now - since <= COMMAND_LIFE:
        return Verdict(RecoveryState.IN_FLIGHT, words_rules.command_open(action=action), client.open_until)
    why = words_rules.command_of_another(action=action, by=client.open_requested_by, seconds=rounded(now - since))
    return Verdict(RecoveryState.LOCKED, why, client.open_until)


def _by_evidence(client: RecoveryFacts, now: datetime, fleet: Fleet) -> Verdict:
    basis = evidence(client, now, fleet)
    if basis is None:
        return _of_uncertain(client, now, fleet)
    return _obstacle(client, now, fleet, basis) or _due(client, now, fleet, basis)


def _nothing_helped(client: RecoveryFacts, now: datetime) -> Sentence:
    seconds = rounded(now - client.tried_since) if client.tried_since else None
    return words_rules.nothing_helped(restarts=client.restarts, reboots=client.reboots, seconds=seconds)


class _Refused(TypedDict):
    """The facts of a sentence about refused commands."""

    restarts: int
    reboots: int
    reason: str | None
    elsewhere: bool


def _refused(client: RecoveryFacts) -> _Refused:
    return {
        "restarts": client.refused_restarts,
        "reboots": client.refused_reboots,
        "reason": client.refused_reason,
        "elsewhere": client.refused_elsewhere,
    }


def _of_uncertain(client: RecoveryFacts, now: datetime, fleet: Fleet) -> Verdict:
    """The verdict for a client that is unwell without evidence to act on."""
    if client.last_heartbeat_at is None:
        return Verdict(RecoveryState.NOT_RECOVERED, words_rules.no_heartbeat_yet())
    if not is_heard(client, now, fleet):
        since = fleet.listening_since
        if since is not None and client.sign_at is not None and client.sign_at >= since:
            why = words_rules.reports_come_again()
        else:
            why = words_rules.not_heard_since()
        return Verdict(RecoveryState.BLOCKED_BRIDGE, why, since + fleet.stale_after(client) if since else None)
    if client.service_failed_unit is not None:
        return Verdict(RecoveryState.VERIFYING, words_rules.failure_not_repeated(unit=client.service_failed_unit))
    if client.screen is not None:
        return Verdict(*of_screen(client.screen))
    return Verdict(RecoveryState.VERIFYING, words_rules.heard_again())


def _obstacle(client: RecoveryFacts, now: datetime, fleet: Fleet, basis: RecoveryBasis) -> Verdict | None:
    """The obstacle to acting on this evidence; None when there is none."""
    if _is_unreachable(client, basis):
        return Verdict(RecoveryState.UNREACHABLE, _unreachable(client, basis))
    if (why := _breaker(client, fleet, basis)) is not None:
        return Verdict(RecoveryState.BLOCKED_BREAKER, why)
    if basis is RecoveryBasis.STALE and _is_silent_too_long(client, now):
        return Verdict(RecoveryState.NOT_RECOVERED, words_rules.silent_too_long())
    if client.lockout_until is not None and client.lockout_until > now:
        return _locked(client, client.lockout_until)
    action = action_for(basis, client.step)
    if not is_able(client.capabilities, action):
        why = words_rules.cannot_do(basis=basis, screen=_screen(client, basis), action=action)
        return Verdict(RecoveryState.NOT_RECOVERED, why)
    return None


def _is_unreachable(client: RecoveryFacts, basis: RecoveryBasis) -> bool:
    """Whether the broker said that the display is not connected, and it gave no sign of life since."""
    offline = client.presence is Presence.OFFLINE
    if offline and basis is RecoveryBasis.STALE:
        return True
    came_online_at = client.presence_at if client.presence is Presence.ONLINE else None
    signs = [at for at in (client.last_sign_at, came_online_at) if at is not None]
    gone = (client.unheard_at, client.presence_at if offline else None)
    return any(at is not None and all(sign <= at for sign in signs) for at in gone)


def _breaker(client: RecoveryFacts, fleet: Fleet, basis: RecoveryBasis) -> Sentence | None:
    """Why an open breaker of the fleet or of this client's site stops recovery; None without one."""
    return fleet.breakers.get((basis, None)) or fleet.breakers.get((basis, client.site))


def _is_silent_too_long(client: RecoveryFacts, now: datetime) -> bool:
    """Whether the client has been silent for more than LONGEST_SILENCE: a reboot would have helped before."""
    return client.last_sign_at is not None and now - client.last_sign_at > LONGEST_SILENCE


def _locked(client: RecoveryFacts, until: datetime) -> Verdict:
    if client.done_action is not None:
        done = words_rules.command_done(action=cast("CommandAction", client.done_action))
        return Verdict(RecoveryState.VERIFYING, done, until)
    if client.lockout_is_ours and client.refused_reason is not None:
        return Verdict(RecoveryState.LOCKED, words_rules.asked_again_later(**_refused(client)), until)
    return Verdict(RecoveryState.LOCKED, words_rules.sent_lately(), until)


def action_for(basis: RecoveryBasis, step: int) -> CommandAction:
    """The action of this rung. For silence it is always a reboot: a hanging player does not obey a restart."""
    return CommandAction.REBOOT_HOST if basis is RecoveryBasis.STALE else LADDER[step]


def _due(client: RecoveryFacts, now: datetime, fleet: Fleet, basis: RecoveryBasis) -> Verdict:
    since = client.process_status_since or now
    if basis is RecoveryBasis.CRASHED and now - since < CRASHED_FOR:
        return Verdict(RecoveryState.DUE, words_rules.watchdog_first(), since + CRASHED_FOR)
    if basis is RecoveryBasis.SCREEN_FAILED and (until := (client.screen_failed_at or now) + LOOK_AT_SCREENS) > now:
        return Verdict(RecoveryState.DUE, words_rules.other_screens_first(screen=client.screen), until)
    if basis is RecoveryBasis.STALE and (waits := _silence_waits(client, now, fleet)) is not None:
        return Verdict(RecoveryState.DUE, *waits)
    action = action_for(basis, client.step)
    due = words_rules.command_due(basis=basis, screen=_screen(client, basis), action=action)
    no_help = words_rules.no_help_so_far(restarts=client.restarts, reboots=client.reboots)
    return Verdict(RecoveryState.DUE, _with_tries(client, due, no_help), action=action, basis=basis)


def _with_tries(client: RecoveryFacts, sentence: Sentence, no_help: Sentence) -> Sentence:
    """The sentence, then what did not help and what the display refused."""
    tries = [no_help] if client.step else []
    if client.refused:
        tries.append(words_rules.refused_before(**_refused(client)))
    return together([sentence, *tries])


def _screen(client: RecoveryFacts, basis: RecoveryBasis) -> ScreenHealthStatus | None:
    """How the screen fails, if the evidence is about the screen."""
    return client.screen if basis is RecoveryBasis.SCREEN_FAILED else None


def _silence_waits(client: RecoveryFacts, now: datetime, fleet: Fleet) -> tuple[Sentence, datetime | None] | None:
    """Why recovery does not act on a silence yet, and until when; None when it acts."""
    if (until := _looks_around_until(client, fleet)) > now:
        return words_rules.others_first(), until
    if (until := _starts_until(client, now, fleet)) > now:
        return words_rules.shop_just_opened(), until
    if (until := _listened_to_until(client, now, fleet)) > now:
        return words_rules.first_heartbeat_awaited(), until
    return None if fleet.late is None else (fleet.late, None)


def _looks_around_until(client: RecoveryFacts, fleet: Fleet) -> datetime:
    """When all displays that fell silent together with this one are stale.

    Displays that fall silent at one moment become stale one after another, within one interval. A tick in between would
    see too few for a breaker, and reboot the first of them.
    """
    moments = [at for at in (client.last_sign_at, fleet.listening_since) if at is not None]
    return max(moments) + fleet.stale_after(client) * (1 + LOOK_AROUND)


def _starts_until(client: RecoveryFacts, now: datetime, fleet: Fleet) -> datetime:
    """Until when a display that fell silent while its shop was closed may take to start."""
    silent_since, opened_at = client.last_sign_at, fleet.opened.get(client.uuid)
    if opened_at is None or silent_since is None or silent_since >= opened_at:
        return now
    return opened_at + AFTER_OPENING


def _listened_to_until(client: RecoveryFacts, now: datetime, fleet: Fleet) -> datetime:
    """Until when recovery waits for the first heartbeat of a display that came online.

    After a network outage the connection comes back first and the heartbeat later. A tick in between would reboot a
    healthy display. A presence from the future (the database's clock was set back) does not make recovery wait.
    """
    if client.presence is not Presence.ONLINE or client.presence_at is None or client.presence_at > now:
        return now
    return client.presence_at + fleet.stale_after(client) * FIRST_HEARTBEAT


def why_acted(client: RecoveryFacts, verdict: Verdict) -> Sentence:
    """Why this command was sent, for the record."""
    basis = verdict.basis or RecoveryBasis.CRASHED
    sent = words_rules.command_sent(
        basis=basis,
        screen=_screen(client, basis),
        action=verdict.action or CommandAction.RESTART_APP,
        attempt=client.step + 1,
        attempts=len(LADDER),
    )
    return _with_tries(client, sent, words_rules.no_help(restarts=client.restarts, reboots=client.reboots))


def _unreachable(client: RecoveryFacts, basis: RecoveryBasis) -> Sentence:
    if basis is RecoveryBasis.STALE:
        return words_rules.silent_and_gone()
    return words_rules.not_connected(basis=basis, screen=_screen(client, basis))
