"""One client's history: a text for each event."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from shared.clients.reports.rules import STATES, cause_of_state
from shared.clients.screens_rules import WORDS as SCREENS
from shared.commands import rules as command_rules
from shared.commands.rules import ENDINGS
from shared.commands.words_rules import name_of, one
from shared.sentences import Coded, Phrased, Phrases, joined, named
from shared.vocabulary import EventKind, ScreenHealthStatus

TITLE_CHARS: Final = 200

REGISTERED_BY: Final[Mapping[str, str]] = {
    "enrolment": "Created by an enrolment code.",
    "first_message": "Registered by its first message.",
}
DONE_TO_IT: Final = {  # action of the audit log -> text
    "client.write": "Facts changed",
    "client.delete": "Deleted",
    "client.log_level": "Log level changed for a time",
    "enrolment.create": "Enrolment code issued",
    "enrolment.use": "Enrolled: the display fetched its login",
    "enrolment.rotate": "Password replaced by the display's own",
    "enrolment.delete": "Login revoked",
    "screenshot.send": "Picture of its screen stored",
    "screenshot.look": "Picture of its screen looked at",
    "recovery.hold": "Recovery put on hold",
    "recovery.resume": "Recovery resumed",
    "recovery.exclude": "Excluded from recovery",
    "recovery.include": "Recovered automatically again",
    "quiet_time.create": "Quiet time made",
    "quiet_time.write": "Quiet time changed",
    "quiet_time.end": "Quiet time ended",
}
SCREENS_WITHOUT_FAULT: Final[Mapping[str, str]] = {
    ScreenHealthStatus.OK: "The screen shows its content again",
    ScreenHealthStatus.OFF: "The screen is off, which is no failure now",
    ScreenHealthStatus.UNKNOWN: "Nobody sees the screen any more",
}
OUTCOMES: Final = {
    "succeeded": "succeeded",
    "failed": "failed",
    "rejected": "was refused by the display",
    "expired": "expired",
    "timed_out": "brought no result in time",
    "cancelled": "was cancelled",
}


HISTORY: Final = Phrases(STATES, ENDINGS)
"""What follows an event of recovery is a sentence of recovery."""


def title(kind: EventKind, details: Mapping[str, Any], why: Sequence[Coded] | None = None) -> Phrased:
    """One event; its English has at most 200 characters. `why`: the codes of the reason in `details`."""
    told = _decided(details, why) if kind is EventKind.RECOVERY else _TITLES[kind](details)
    text = told.english
    return told if len(text) <= TITLE_CHARS else Phrased(text[: TITLE_CHARS - 1] + "…", told.coded)


@HISTORY.phrase
def client_registered(*, how: str) -> str:
    """`how`: a code, or its first message."""
    return REGISTERED_BY.get(how, "Registered.")


@HISTORY.phrase
def state_changed(*, before: str, after: str) -> str:
    """The cause follows."""
    return f"{before.capitalize()} → {after}:"


def _state(details: Mapping[str, Any]) -> Phrased:
    changed = state_changed(before=str(details["from"]), after=details["to"])
    return joined([changed, cause_of_state(details["cause"])])


@HISTORY.phrase
def service_failed(*, unit: str) -> str:
    return f"Service {unit} failed"


@HISTORY.phrase
def failure_acknowledged(*, unit: str, by: str) -> str:
    return f"Failure of {unit} acknowledged by {named(by)}"


@HISTORY.phrase
def screen_changed(*, screen: str, fails: bool) -> str:
    if not fails:
        return SCREENS_WITHOUT_FAULT.get(screen, "The screen fails no more")
    unplanned = ", and nobody planned that" if screen == ScreenHealthStatus.OFF else ""
    return f"The screen {SCREENS.get(screen, f'is {screen}')}{unplanned}"


@HISTORY.phrase
def line_logged(*, level: str, message: str) -> str:
    return f"{level.capitalize()}: {message}"


@HISTORY.phrase
def command_requested(
    *,
    action: str,
    by: str,
    reason: str,
    reason_sentences: Sequence[Any] | None,  # noqa: ARG001 - for readers of another language
) -> str:
    """`reason`: a person's own words; of recovery, the English of `reason_sentences`."""
    return f"{name_of(action)} asked for by {named(by)}{_because(reason)}"


@HISTORY.phrase
def command_received(*, action: str) -> str:
    return f"{name_of(action)} received by the display"


@HISTORY.phrase
def command_over_before(*, action: str, state: str) -> str:
    """`state`: what the display said afterwards."""
    return f"{name_of(action)}: the display said {state} after it was over"


@HISTORY.phrase
def command_over(
    *,
    action: str,
    state: str,
    reason: str | None,
    reason_sentences: Sequence[Coded] | None,  # noqa: ARG001 - the same in codes
    confirmed_by: str | None,
) -> str:
    why = reason or (f"confirmed by {confirmed_by}" if confirmed_by else "")
    return f"{name_of(action)} {OUTCOMES.get(state, state)}{_because(why)}"


def _command(details: Mapping[str, Any]) -> Phrased:
    action = details["action"]
    match details["step"]:
        case "asked":
            why = {"reason": details["reason"], "reason_sentences": details.get("reason_sentences")}
            return command_requested(action=action, by=details["requested_by"], **why)
        case "received":
            return command_received(action=action)
        case "late":
            return command_over_before(action=action, state=details["late_state"])
        case _:
            reason, confirmed_by = details["outcome_reason"], details["confirmed_by"]
            said = command_rules.outcome_sentences(details["state"], reason)
            why = {"reason": reason, "reason_sentences": said}
            return command_over(action=action, state=details["state"], **why, confirmed_by=confirmed_by)


def _because(why: str) -> str:
    return f" ({why})" if why else ""


@HISTORY.phrase
def recovery_did_nothing() -> str:
    """The reason follows."""
    return "Recovery does nothing:"


@HISTORY.phrase
def recovery_asked(*, action: str) -> str:
    """The reason follows."""
    return f"Recovery asks for {one(action)}:"


def _decided(details: Mapping[str, Any], why: Sequence[Coded] | None) -> Phrased:
    decision = details["decision"]
    did = recovery_did_nothing() if decision == "none" else recovery_asked(action=decision)
    return joined([did, Phrased(details["why"], None if why is None else tuple(why))])


@HISTORY.phrase
def person_did(*, action: str, by: str) -> str:
    """`action` and `by`: of the audit log. Whoever used a code is not named: nobody knows them."""
    done = DONE_TO_IT.get(action, action)
    if by == "anonymous":
        return done
    return f"{done}, by {named(by)}"


_TITLES: Final[Mapping[EventKind, Callable[[Mapping[str, Any]], Phrased]]] = {
    EventKind.REGISTERED: lambda details: client_registered(how=details["registered_by"]),
    EventKind.STATE: _state,
    EventKind.SERVICE_FAILED: lambda details: service_failed(unit=details["unit"]),
    EventKind.SERVICE_CLEARED: lambda details: failure_acknowledged(unit=details["unit"], by=details["by"]),
    EventKind.SCREEN: lambda details: screen_changed(screen=details["screen"], fails=details["fails"]),
    EventKind.LOG: lambda details: line_logged(level=str(details["level"]), message=details["message"]),
    EventKind.COMMAND: _command,
    EventKind.AUDIT: lambda details: person_did(action=details["action"], by=details["actor"]),
}
