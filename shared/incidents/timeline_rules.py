"""The titles of an incident's events."""

from collections.abc import Mapping
from typing import Any

from shared.vocabulary import CommandAction, IncidentEventKind, IncidentKind
from shared.words.facts import By
from shared.words.sentences import Sentence, as_given, sentence, together, unended


@sentence
def part_of_another(*, id: int) -> Sentence: ...  # noqa: A002 - the fact's name
@sentence
def has_part(*, id: int, kind: IncidentKind, key: str) -> Sentence: ...  # noqa: A002 - the fact's name
@sentence
def failed_again() -> Sentence: ...
@sentence
def fleet_heard_again() -> Sentence: ...
@sentence
def all_well_again() -> Sentence: ...
@sentence
def displays_failed(*, displays: int) -> Sentence: ...
@sentence
def displays_well(*, displays: int) -> Sentence: ...
@sentence
def is_on_it(*, by: By) -> Sentence: ...
@sentence
def took_over(*, by: By, was: By) -> Sentence: ...
@sentence
def gave_back(*, by: By) -> Sentence: ...
@sentence
def command_asked(*, action: CommandAction, displays: int, by: By, reason: Sentence | None) -> Sentence: ...
@sentence
def recovery_waits(*, displays: int) -> Sentence: ...
@sentence
def recovery_acts(*, action: CommandAction, displays: int) -> Sentence: ...


def title(kind: IncidentEventKind, count: int | None, details: Mapping[str, Any], words: Sentence | None) -> Sentence:
    """The title of an event. `count` is how many displays it concerns; `words` is what was stored with it."""
    displays = count or 0
    match kind:
        case IncidentEventKind.JOINED:
            return displays_failed(displays=displays)
        case IncidentEventKind.LEFT:
            return displays_well(displays=displays)
        case IncidentEventKind.COMMAND:
            by, reason = details["requested_by"], details["reason"]
            because = reason if by == "recovery" else unended(reason)
            return command_asked(action=details["action"], displays=displays, by=by, reason=because)
        case IncidentEventKind.RECOVERY:
            action, why = details["decision"], details["why"]
            if action == "none":
                return together([recovery_waits(displays=displays), why])
            return together([recovery_acts(action=action, displays=displays), why])
        case _:
            return words or as_given(text="")
