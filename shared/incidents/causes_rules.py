"""The likely cause of an incident, as a sentence that an operator can act on."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from shared.vocabulary import BAD_SCREENS, IncidentKind, ScreenHealthStatus, Symptom
from shared.words.facts import Lasting, Moment, in_zone
from shared.words.sentences import Sentence, sentence

Likely: TypeAlias = Literal["screens", "content", "shared", "time", "network", "short_break"]
"""The likely cause; `time`: nothing else is shared."""
SCREENS: Final = {*BAD_SCREENS, ScreenHealthStatus.OFF}
BY_SWITCH: Final = {ScreenHealthStatus.DISCONNECTED, ScreenHealthStatus.OFF}


class Place(Struct, frozen=True):
    """A site or a subnet with at least half of an incident's members."""

    kind: IncidentKind
    key: str
    members: int
    size: int
    """How many displays of the place were heard in the last day."""


class Facts(Struct, frozen=True):
    """The facts about an incident's members, including members that are well again."""

    kind: IncidentKind
    key: str
    size: int | None
    symptoms: Mapping[Symptom, int]
    """How many displays failed in each way; a display that failed twice counts by its first failure."""
    first_failed_at: datetime
    last_failed_at: datetime
    sites: int
    unit: str | None
    """The service that failed, or how the screens failed, if it was the same on all."""
    place: Place | None = None
    """For a cluster: the place with at least half of its members."""
    site: str | None = None
    """The site of all members, if they have the same."""
    elsewhere: bool = False
    """For a cluster without a place: most other displays are lost, too."""


@sentence
def failed_together(
    *,
    kind: IncidentKind,
    key: str,
    site: str | None,
    size: int | None,
    members: int,
    sites: int,
    symptom: Symptom,
    ways: list[Sentence],
    unit: str | None,
    screen: ScreenHealthStatus | None,
    seconds: Lasting,
    place: Sentence | None,
    likely: Likely,
    where: IncidentKind,
) -> Sentence:
    """`site` of a subnet alone. `symptom`: the first; `ways`: how many failed in each way.

    `seconds` from the first failure to the last. `where`: what kind of place it is, if it is the place's fault.
    """


@sentence
def failed_so(*, symptom: Symptom, displays: int) -> Sentence: ...
@sentence
def most_at(*, kind: IncidentKind, key: str, members: int, size: int, whole: bool, among: bool) -> Sentence:
    """The place with half of a cluster's members: a person should look there first. `among`: others are elsewhere."""


@sentence
def fleet_not_heard(*, at: Moment) -> Sentence: ...
@sentence
def other_sites_too() -> Sentence:
    """For a caller of chosen sites, who may not see the cause (`migrations/site_views.py`)."""


def cause(facts: Facts) -> Sentence:
    """One sentence: what happened, and its likely cause."""
    place, members = facts.place, sum(facts.symptoms.values())
    symptoms = [symptom for symptom in Symptom if symptom in facts.symptoms]
    screen = facts.unit if symptoms == [Symptom.SCREEN_FAILED] and facts.unit in SCREENS else None
    return failed_together(
        kind=facts.kind,
        key=facts.key,
        site=facts.site if facts.kind is IncidentKind.SUBNET else None,
        size=None if facts.size is None else max(facts.size, members),
        members=members,
        sites=facts.sites,
        symptom=symptoms[0],
        ways=[failed_so(symptom=symptom, displays=facts.symptoms[symptom]) for symptom in symptoms],
        unit=facts.unit if symptoms == [Symptom.SERVICE_FAILED] else None,
        screen=None if screen is None else ScreenHealthStatus(screen),
        seconds=int((facts.last_failed_at - facts.first_failed_at).total_seconds()),
        place=None if place is None else _most_at(place, members),
        likely=_likely(facts, members),
        where=facts.kind if place is None else place.kind,
    )


def _most_at(place: Place, members: int) -> Sentence:
    there, size = place.members, max(place.size, place.members)
    return most_at(
        kind=place.kind, key=place.key, members=there, size=size, whole=there == size, among=there != members
    )


def _likely(facts: Facts, members: int) -> Likely:
    """The network or power for silence and lost connections, content for crashes."""
    if set(facts.symptoms) == {Symptom.SCREEN_FAILED} and facts.unit in BY_SWITCH:
        return "screens"
    if 2 * sum(facts.symptoms.get(symptom, 0) for symptom in (Symptom.SILENT, Symptom.DISCONNECTED)) < members:
        return "content"
    if facts.place is None and facts.kind is IncidentKind.CLUSTER:
        return "shared" if facts.elsewhere else "time"
    return "network" if Symptom.SILENT in facts.symptoms else "short_break"


def why_unheard(silent_since: datetime) -> Sentence:
    """The cause of an incident of kind `listening`: the bridge does not hear the fleet."""
    return fleet_not_heard(at=in_zone(silent_since, "UTC"))
