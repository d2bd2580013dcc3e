"""The sentences of recovery: why it acts or waits, and what its breakers do."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from shared.clients.reports.rules import in_words
from shared.clients.screens_rules import WORDS as SCREENS
from shared.clients.signs_rules import why_mute
from shared.commands.words_rules import name_of, one
from shared.sentences import Phrases, named
from shared.vocabulary import RecoveryBasis

RECOVERY: Final = Phrases()
_A_PERSON: Final = "nothing is sent any more until a person acts and resumes recovery."
_WRONG: Final[Mapping[str, str]] = {
    RecoveryBasis.CRASHED: "The player crashed and the heartbeat that says so is fresh",
    RecoveryBasis.SERVICE_FAILED: "A service failed and the display is heard",
    RecoveryBasis.STALE: "The display is silent while we listen, and the broker does not say that it left",
}
_GONE: Final[Mapping[str, str]] = {
    RecoveryBasis.CRASHED: "The player crashed",
    RecoveryBasis.SERVICE_FAILED: "A service failed",
}


def _screen(screen: str | None) -> str:
    """How a screen fails, without a full stop."""
    return f"The screen {'fails' if screen is None else SCREENS[screen]}"


def _wrong(basis: str, screen: str | None) -> str:
    """The evidence, without a full stop. `screen`: how the screen fails, if it is about the screen."""
    return f"{_screen(screen)} and the display is heard" if basis == RecoveryBasis.SCREEN_FAILED else _WRONG[basis]


def _counted(restarts: int, reboots: int) -> str:
    counted = ((restarts, "restart"), (reboots, "reboot"))
    return " and ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in counted if n)


def _refused(restarts: int, reboots: int, reason: str | None, elsewhere: bool) -> str:
    why = ": ".join(part for part in (reason, _ELSEWHERE if elsewhere else "") if part)
    told = "" if reason is None else f" ({why or 'without a reason'})"
    were = "was" if restarts + reboots == 1 else "were"
    return f"{_counted(restarts, reboots)} {were} refused by the display{told}"


_ELSEWHERE: Final = "its boot was another one than in its last stored heartbeat"

# --- what does not depend on the display's state ---


@RECOVERY.phrase
def recovery_off() -> str:
    return "Automatic recovery is switched off by the setting CRASH_RECOVERY_ENABLED."


@RECOVERY.phrase
def bridge_silent() -> str:
    return "The bridge gives no sign, so what we see may be out of date; nothing is sent until it listens again."


@RECOVERY.phrase
def command_open(*, action: str) -> str:
    return f"{one(action).capitalize()} is on its way; its outcome decides what comes next."


@RECOVERY.phrase
def command_of_another(*, action: str, by: str | None, seconds: int) -> str:
    return (
        f"{one(action).capitalize()} that {named(by)} asked for {_lasting(seconds)} ago has no outcome yet;"
        " recovery waits until it has one, or its time is over, or an admin ends it."
    )


@RECOVERY.phrase
def nothing_helped(*, restarts: int, reboots: int, seconds: int | None) -> str:
    """`seconds`: how long ago the first attempt was."""
    began = "" if seconds is None else f", the first of them {_lasting(seconds)} ago"
    return f"{_counted(restarts, reboots) or 'Nothing so far'} did not help{began}: {_A_PERSON}"


@RECOVERY.phrase
def all_refused(*, restarts: int, reboots: int, reason: str | None, elsewhere: bool) -> str:
    """`reason`: of the last refusal; empty: without one; None: the last command was not refused."""
    return f"{_refused(restarts, reboots, reason, elsewhere)}: {_A_PERSON}"


# --- why a display is left alone ---


@RECOVERY.phrase
def two_devices(*, seconds: int) -> str:
    return (
        f"Two devices use this login, last seen {_lasting(seconds)} ago, so either could receive a command."
        " Give one of them a new code."
    )


@RECOVERY.phrase
def shut_down_on_purpose() -> str:
    return "The display was shut down on purpose; it is left alone until its next heartbeat."


@RECOVERY.phrase
def stopped_on_purpose() -> str:
    return "The player was stopped on purpose; it is left alone."


# --- without evidence to act on ---


@RECOVERY.phrase
def no_heartbeat_yet() -> str:
    return "No heartbeat of the display has come yet; there is nothing to go by."


@RECOVERY.phrase
def reports_come_again() -> str:
    return "Its reports come again since the bridge listens again; recovery waits for its heartbeats."


@RECOVERY.phrase
def not_heard_since() -> str:
    return "The display has not been heard since the bridge listens again; its silence counts from then."


@RECOVERY.phrase
def failure_not_repeated(*, unit: str) -> str:
    return (
        f"The service {unit} failed, but the display has not said so again since; acknowledge the failure if all is"
        " well."
    )


@RECOVERY.phrase
def screen_disconnected(*, screen: str) -> str:
    return f"{_screen(screen)}. No command mends that: somebody has to look at its cable and its power."


@RECOVERY.phrase
def screen_off(*, screen: str) -> str:
    return (
        f"{_screen(screen)}, and nobody planned that."
        " No command is sent: somebody has to switch it on, or plan the time in which it is off."
    )


@RECOVERY.phrase
def screen_unproven(*, screen: str) -> str:
    return f"{_screen(screen)}; recovery waits for two new reports before it sends anything."


@RECOVERY.phrase
def heard_again() -> str:
    return "The display is heard again; whether it stays well is not known yet."


@RECOVERY.phrase
def heartbeats_missing(*, refused: Mapping[str, int]) -> str:
    """`refused`: why heartbeats were refused since its last one, and how many for each reason."""
    return why_mute(refused)


# --- what stands in the way ---


@RECOVERY.phrase
def silent_and_gone() -> str:
    return "The display is silent and not connected: nothing can be sent to it."


@RECOVERY.phrase
def not_connected(*, basis: str, screen: str | None) -> str:
    what = _GONE.get(basis) or _screen(screen)
    return f"{what}, but the display is not connected; recovery tries again after its next heartbeat."


@RECOVERY.phrase
def silent_too_long() -> str:
    return (
        "The display has been silent for more than a day. A reboot would not help, so recovery sends nothing:"
        " a person must look at it."
    )


@RECOVERY.phrase
def command_done(*, action: str) -> str:
    return f"{name_of(action)} by recovery was done; whether it helped is judged when the lockout ends."


@RECOVERY.phrase
def asked_again_later(*, restarts: int, reboots: int, reason: str | None, elsewhere: bool) -> str:
    return f"{_refused(restarts, reboots, reason, elsewhere)}; it is asked again when the lockout ends."


@RECOVERY.phrase
def sent_lately() -> str:
    return "A restart or reboot was sent lately; the display is given time to come back before the next one."


@RECOVERY.phrase
def cannot_do(*, basis: str, screen: str | None, action: str) -> str:
    return f"{_wrong(basis, screen)}, but this display says that it cannot do {one(action)}."


# --- what is due ---


@RECOVERY.phrase
def watchdog_first() -> str:
    return "The player crashed a moment ago; the display's own watchdog goes first."


@RECOVERY.phrase
def other_screens_first(*, screen: str | None) -> str:
    wrong = _wrong(RecoveryBasis.SCREEN_FAILED, screen)
    return f"{wrong}; recovery waits to see whether many others fail too."


@RECOVERY.phrase
def others_first() -> str:
    return "The display fell silent a moment ago; recovery waits to see whether many others did too."


@RECOVERY.phrase
def shop_just_opened() -> str:
    return "Its shop opened a moment ago and it was silent before; recovery gives it the time to start."


@RECOVERY.phrase
def first_heartbeat_awaited() -> str:
    return "The display came online a moment ago; recovery waits for its first heartbeat."


@RECOVERY.phrase
def many_late(*, late: int, seen: int) -> str:
    return f"{late:,} of {seen:,} displays are late or silent: recovery waits to see whether more fall silent."


@RECOVERY.phrase
def command_due(*, basis: str, screen: str | None, action: str) -> str:
    return f"{_wrong(basis, screen)}; the next tick with a place free sends {one(action)}."


@RECOVERY.phrase
def no_help_so_far(*, restarts: int, reboots: int) -> str:
    return f"{_counted(restarts, reboots) or 'Nothing so far'} did not help so far."


@RECOVERY.phrase
def refused_before(*, restarts: int, reboots: int, reason: str | None, elsewhere: bool) -> str:
    return f"{_refused(restarts, reboots, reason, elsewhere)}."


@RECOVERY.phrase
def command_sent(*, basis: str, screen: str | None, action: str, attempt: int, attempts: int) -> str:
    return f"{_wrong(basis, screen)}: {one(action)}, attempt {attempt} of {attempts}."


@RECOVERY.phrase
def no_help(*, restarts: int, reboots: int) -> str:
    return f"{_counted(restarts, reboots) or 'Nothing so far'} did not help."


@RECOVERY.phrase
def part_of_incident() -> str:
    """The cause of the incident follows."""
    return "It is part of an incident:"


def _lasting(seconds: int) -> str:
    return in_words(timedelta(seconds=seconds))
