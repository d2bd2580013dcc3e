"""The likely cause of an incident, as a sentence that an operator can act on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.vocabulary import IncidentKind, Symptom

LIKELY_PLACE: Final = {IncidentKind.SITE: "of the site", IncidentKind.SUBNET: "of this part of the network"}


@dataclass(frozen=True, slots=True)
class Place:
    """A site or a subnet with at least half of an incident's members."""

    kind: IncidentKind
    key: str
    members: int
    size: int
    """How many displays of the place were heard in the last day."""


@dataclass(frozen=True, slots=True)
class Facts:
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


def cause(facts: Facts) -> str:
    """One sentence: what happened, and its likely cause."""
    members = sum(facts.symptoms.values())
    happened = f"{_whom(facts, members)} {_what(facts)} {_within(facts.last_failed_at - facts.first_failed_at)}"
    return f"{happened}{_among_them(facts, members)}; {_likely(facts)}."


def _whom(facts: Facts, members: int) -> str:
    number = f"{members} of {max(facts.size, members)} displays" if facts.size is not None else f"{members} displays"
    if facts.kind is IncidentKind.SITE:
        return f"{number} at site {facts.key}"
    if facts.kind is IncidentKind.SUBNET:
        return f"{number} in the subnet {facts.key}"
    return f"{number} at {facts.sites} sites" if facts.sites > 1 else number


def _among_them(facts: Facts, members: int) -> str:
    """The words for the place with half of a cluster's members: a person should look there first."""
    place = facts.place
    if place is None:
        return ""
    called = place.key if place.kind is IncidentKind.SITE else f"the subnet {place.key}"
    size = max(place.size, place.members)
    number = f"all {place.members}" if place.members == size else f"{place.members} of {size}"
    return f", {number} of {called}" if place.members == members else f", among them {number} of {called}"


def _what(facts: Facts) -> str:
    if len(facts.symptoms) > 1:
        parts = [f"{count} {WORDS[symptom]}" for symptom, count in facts.symptoms.items()]
        return f"failed ({', '.join(parts)})"
    [symptom] = facts.symptoms
    if symptom is Symptom.SERVICE_FAILED and facts.unit is not None:
        return f"reported that {facts.unit} failed"
    if symptom is Symptom.SCREEN_FAILED and facts.unit in SCREENS_DID:
        return SCREENS_DID[facts.unit]
    return DONE[symptom]


WORDS: Final = {
    Symptom.SILENT: "silent",
    Symptom.CRASHED: "crashed",
    Symptom.SERVICE_FAILED: "with a failed service",
    Symptom.DISCONNECTED: "cut off for a moment",
    Symptom.SCREEN_FAILED: "with a bad screen",
}
DONE: Final = {
    Symptom.SILENT: "went silent",
    Symptom.CRASHED: "crashed",
    Symptom.SERVICE_FAILED: "reported a failed service",
    Symptom.DISCONNECTED: "lost the broker and came back",
    Symptom.SCREEN_FAILED: "lost their picture",
}
SCREENS_DID: Final = {
    "black": "went black",
    "frozen": "froze",
    "disconnected": "lost their screens",
    "off": "had their screens switched off",
}


def _within(spread: timedelta) -> str:
    seconds = int(spread.total_seconds())
    if seconds < 1:
        return "at once"
    if seconds < 120:
        return f"within {seconds} s"
    return f"within {seconds // 60} minutes" if seconds < 7200 else f"within {seconds // 3600} hours"


def _likely(facts: Facts) -> str:
    """The words for the likely cause: network or power for silence and lost connections, content for crashes."""
    if set(facts.symptoms) == {Symptom.SCREEN_FAILED} and facts.unit in {"disconnected", "off"}:
        return "the power of the screens, or somebody at the switch, is likely"
    by_network = sum(facts.symptoms.get(symptom, 0) for symptom in (Symptom.SILENT, Symptom.DISCONNECTED))
    if 2 * by_network < sum(facts.symptoms.values()):
        return "what they were given to show, or an update, is likely"
    if facts.place is not None:
        return f"{_network(facts)} {LIKELY_PLACE[facts.place.kind]} is likely"
    if facts.kind is IncidentKind.CLUSTER:
        return "a provider they share, the way to the broker or the broker itself is likely"
    return f"{_network(facts)} {LIKELY_PLACE[facts.kind]} is likely"


def _network(facts: Facts) -> str:
    return "the network or power" if Symptom.SILENT in facts.symptoms else "a short break of the network"


def why_unheard(silent_since: datetime) -> str:
    """The cause of an incident of kind `listening`: the bridge does not hear the fleet."""
    since = silent_since.strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"We do not hear the fleet: the bridge gives no sign since {since}. The displays may well be running."
