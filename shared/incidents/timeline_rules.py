"""The titles of an incident's events."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import asdict

from shared.commands.words_rules import name_of, one
from shared.incidents.causes_rules import CAUSES
from shared.sentences import Coded, Phrased, Phrases, joined, named
from shared.vocabulary import IncidentEventKind

TIMELINE: Final = Phrases(CAUSES)


@TIMELINE.phrase
def part_of_another(*, id: int) -> str:  # noqa: A002 - the fact's name
    return f"Part of incident {id} from here on."


@TIMELINE.phrase
def has_part(*, id: int, kind: str, key: str) -> str:  # noqa: A002 - the fact's name
    return f"Incident {id} ({f'{kind} {key}'.strip()}) turned out to be part of this one."


@TIMELINE.phrase
def failed_again() -> str:
    return "It failed again shortly after."


@TIMELINE.phrase
def fleet_heard_again() -> str:
    return "We hear the fleet again."


@TIMELINE.phrase
def all_well_again() -> str:
    return "All displays are well again."


@TIMELINE.phrase
def displays_failed(*, displays: int) -> str:
    return f"{counted(displays)} failed"


@TIMELINE.phrase
def displays_well(*, displays: int) -> str:
    return f"{counted(displays)} well again"


@TIMELINE.phrase
def is_on_it(*, by: str) -> str:
    return f"{named(by)} is on it."


@TIMELINE.phrase
def took_over(*, by: str, was: str) -> str:
    return f"{named(by)} took over from {named(was)}."


@TIMELINE.phrase
def gave_back(*, by: str) -> str:
    return f"{named(by)} gave it back."


@TIMELINE.phrase
def command_asked(
    *,
    action: str,
    displays: int,
    by: str,
    reason: str,
    reason_sentences: Sequence[Any] | None,  # noqa: ARG001 - for readers of another language
) -> str:
    """`reason`: a person's own words; of recovery, the English of `reason_sentences`."""
    because = f" ({reason})" if reason else ""
    return f"{name_of(action)} for {counted(displays)} asked for by {named(by)}{because}"


@TIMELINE.phrase
def recovery_waits(*, displays: int) -> str:
    """The reason follows."""
    return f"Recovery does nothing for {counted(displays)}:"


@TIMELINE.phrase
def recovery_acts(*, action: str, displays: int) -> str:
    """The reason follows."""
    return f"Recovery asks for {one(action)} of {counted(displays)}:"


def title(
    kind: IncidentEventKind, count: int | None, details: Mapping[str, Any], coded: Sequence[Coded] | None
) -> Phrased:
    """The title of an event. `count` is how many displays it concerns; `coded`: the codes of the text in `details`."""
    displays = count or 0
    match kind:
        case IncidentEventKind.JOINED:
            return displays_failed(displays=displays)
        case IncidentEventKind.LEFT:
            return displays_well(displays=displays)
        case IncidentEventKind.COMMAND:
            by, reason = details["requested_by"], details["reason"]
            sentences = None if coded is None else [asdict(one) for one in coded]
            return command_asked(
                action=details["action"], displays=displays, by=by, reason=reason, reason_sentences=sentences
            )
        case IncidentEventKind.RECOVERY:
            why = Phrased(details["why"], None if coded is None else tuple(coded))
            if details["decision"] == "none":
                return joined([recovery_waits(displays=displays), why])
            return joined([recovery_acts(action=details["decision"], displays=displays), why])
        case _:
            return TIMELINE.stored(str(details["words"]), coded)


def counted(displays: int) -> str:
    """The number with its noun: `1 display`, `3 displays`."""
    return "1 display" if displays == 1 else f"{displays} displays"
