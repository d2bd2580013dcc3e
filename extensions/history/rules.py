"""One client's history: a sentence for each event."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, Literal

from shared.commands import rules as command_rules
from shared.commands.rules import OutcomeCause
from shared.vocabulary import (
    ClientStatus,
    CommandAction,
    CommandState,
    ConfirmedBy,
    EventKind,
    LogLevel,
    ScreenHealthStatus,
)
from shared.words.facts import By
from shared.words.sentences import Sentence, sentence, together, unended

MESSAGE_CHARS: Final = 200  # of a log line
DoneToIt = StrEnum(
    "DoneToIt",
    "CLIENT_WRITE CLIENT_DELETE CLIENT_LOG_LEVEL ENROLMENT_CREATE ENROLMENT_USE ENROLMENT_ROTATE ENROLMENT_DELETE"
    " SCREENSHOT_SEND SCREENSHOT_LOOK RECOVERY_HOLD RECOVERY_RESUME RECOVERY_EXCLUDE RECOVERY_INCLUDE"
    " QUIET_TIME_CREATE QUIET_TIME_WRITE QUIET_TIME_END",
)
"""The actions of the audit log that have words, with `_` for each dot."""


@sentence
def client_registered(*, how: Literal["enrolment", "first_message"]) -> Sentence: ...
@sentence
def state_changed(*, before: ClientStatus, after: ClientStatus) -> Sentence: ...
@sentence
def service_failed(*, unit: str) -> Sentence: ...
@sentence
def failure_acknowledged(*, unit: str, by: By) -> Sentence: ...
@sentence
def screen_changed(*, screen: ScreenHealthStatus, fails: bool) -> Sentence: ...
@sentence
def line_logged(*, level: LogLevel, message: str) -> Sentence: ...
@sentence
def command_requested(*, action: CommandAction, by: By, reason: Sentence | None) -> Sentence: ...
@sentence
def command_received(*, action: CommandAction) -> Sentence: ...
@sentence
def command_over_before(*, action: CommandAction, state: CommandState) -> Sentence: ...
@sentence
def command_over(
    *,
    action: CommandAction,
    state: CommandState,
    cause: OutcomeCause | None,
    why: Sentence | None,
    confirmed_by: ConfirmedBy | None,
) -> Sentence: ...
@sentence
def recovery_did_nothing() -> Sentence: ...
@sentence
def recovery_asked(*, action: CommandAction) -> Sentence: ...
@sentence
def person_did(*, did: DoneToIt, action: str, by: By, named: bool) -> Sentence: ...


def title(kind: EventKind, details: Mapping[str, Any]) -> Sentence:
    """One event, for people."""
    return _TITLES[kind](details)


def _state(details: Mapping[str, Any]) -> Sentence:
    changed = state_changed(before=details["from"], after=details["to"])
    return together([changed, details["cause"]])


def _logged(details: Mapping[str, Any]) -> Sentence:
    message = details["message"]
    cut = message if len(message) <= MESSAGE_CHARS else message[: MESSAGE_CHARS - 1] + "…"
    return line_logged(level=details["level"], message=cut)


def _command(details: Mapping[str, Any]) -> Sentence:
    action = details["action"]
    match details["step"]:
        case "asked":
            by, reason = details["requested_by"], details["reason"]
            return command_requested(action=action, by=by, reason=reason if by == "recovery" else unended(reason))
        case "received":
            return command_received(action=action)
        case "late":
            return command_over_before(action=action, state=details["late_state"])
        case _:
            state, confirmed_by = details["state"], details["confirmed_by"]
            reason = details["outcome_reason"]
            cause = OutcomeCause(reason) if reason in set(OutcomeCause) else None
            why = None if cause else command_rules.why_ended(state, reason)
            return command_over(action=action, state=state, cause=cause, why=why, confirmed_by=confirmed_by)


def _decided(details: Mapping[str, Any]) -> Sentence:
    decision = details["decision"]
    did = recovery_did_nothing() if decision == "none" else recovery_asked(action=decision)
    return together([did, details["why"]])


def _did(details: Mapping[str, Any]) -> Sentence:
    """Whoever used a code is not named: nobody knows them."""
    action, by = details["action"], details["actor"]
    return person_did(did=action.replace(".", "_"), action=action, by=by, named=by != "anonymous")


_TITLES: Final[Mapping[EventKind, Callable[[Mapping[str, Any]], Sentence]]] = {
    EventKind.REGISTERED: lambda details: client_registered(how=details["registered_by"]),
    EventKind.STATE: _state,
    EventKind.SERVICE_FAILED: lambda details: service_failed(unit=details["unit"]),
    EventKind.SERVICE_CLEARED: lambda details: failure_acknowledged(unit=details["unit"], by=details["by"]),
    EventKind.SCREEN: lambda details: screen_changed(screen=details["screen"], fails=details["fails"]),
    EventKind.LOG: _logged,
    EventKind.COMMAND: _command,
    EventKind.RECOVERY: _decided,
    EventKind.AUDIT: _did,
}
