"""The likely cause of an incident, as a sentence that an operator can act on."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from shared.sentences import Phrased, Phrases, moment
from shared.vocabulary import IncidentKind, Symptom

LIKELY_PLACE: Final[Mapping[str, str]] = {
    IncidentKind.SITE: "of the site",
    IncidentKind.SUBNET: "of this part of the network",
}


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


CAUSES: Final = Phrases()


def cause(facts: Facts) -> Phrased:
    """One sentence: what happened, and its likely cause."""
    place = facts.place
    return failed_together(
        kind=facts.kind,
        key=facts.key,
        size=facts.size,
        symptoms={str(symptom): count for symptom, count in facts.symptoms.items()},
        seconds=int((facts.last_failed_at - facts.first_failed_at).total_seconds()),
        sites=facts.sites,
        unit=facts.unit,
        place=None if place is None else asdict(place),
        site=facts.site if facts.kind is IncidentKind.SUBNET else None,
        elsewhere=facts.elsewhere,
    )


@CAUSES.phrase
def failed_together(
    *,
    kind: str,
    key: str,
    size: int | None,
    symptoms: Mapping[str, int],
    seconds: int,
    sites: int,
    unit: str | None,
    place: Mapping[str, Any] | None,
    site: str | None,
    elsewhere: bool,
) -> str:
    """`Facts`, with `seconds` from the first failure to the last, and the `site` of a subnet alone."""
    members = sum(symptoms.values())
    happened = f"{_whom(kind, key, site, size, sites, members)} {_what(symptoms, unit)} {_within(seconds)}"
    return f"{happened}{_among_them(place, members)}; {_likely(kind, symptoms, unit, place, elsewhere)}."


@CAUSES.phrase
def fleet_not_heard(*, since: str) -> str:
    """`since`: when the bridge gave its last sign."""
    at = datetime.fromisoformat(since).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"We do not hear the fleet: the bridge gives no sign since {at}. The displays may well be running."


@CAUSES.phrase
def other_sites_too() -> str:
    """For a caller of chosen sites, who may not see the cause (`migrations/site_views.py`)."""
    return "Displays of other sites failed at the same time."


def _whom(kind: str, key: str, site: str | None, size: int | None, sites: int, members: int) -> str:
    number = f"{members} of {max(size, members)} displays" if size is not None else f"{members} displays"
    if kind == IncidentKind.SITE:
        return f"{number} at site {key}"
    if kind == IncidentKind.SUBNET:
        return f"{number} in the subnet {key}" + (f" of {site}" if site is not None else "")
    return f"{number} at {sites} sites" if sites > 1 else number


def _among_them(place: Mapping[str, Any] | None, members: int) -> str:
    """The words for the place with half of a cluster's members: a person should look there first."""
    if place is None:
        return ""
    called = place["key"] if place["kind"] == IncidentKind.SITE else f"the subnet {place['key']}"
    there, size = place["members"], max(place["size"], place["members"])
    number = f"all {there}" if there == size else f"{there} of {size}"
    return f", {number} of {called}" if there == members else f", among them {number} of {called}"


def _what(symptoms: Mapping[str, int], unit: str | None) -> str:
    if len(symptoms) > 1:
        parts = [f"{symptoms[symptom]} {WORDS[symptom]}" for symptom in Symptom if symptom in symptoms]
        return f"failed ({', '.join(parts)})"
    [symptom] = symptoms
    if symptom == Symptom.SERVICE_FAILED and unit is not None:
        return f"reported that {unit} failed"
    if symptom == Symptom.SCREEN_FAILED and unit is not None and unit in SCREENS_DID:
        return SCREENS_DID[unit]
    return DONE[symptom]


WORDS: Final[Mapping[str, str]] = {
    Symptom.SILENT: "silent",
    Symptom.CRASHED: "crashed",
    Symptom.SERVICE_FAILED: "with a failed service",
    Symptom.DISCONNECTED: "cut off for a moment",
    Symptom.SCREEN_FAILED: "with a bad screen",
}
DONE: Final[Mapping[str, str]] = {
    Symptom.SILENT: "went silent",
    Symptom.CRASHED: "crashed",
    Symptom.SERVICE_FAILED: "reported a failed service",
    Symptom.DISCONNECTED: "lost the broker and came back",
    Symptom.SCREEN_FAILED: "lost their picture",
}
SCREENS_DID: Final[Mapping[str, str]] = {
    "black": "went black",
    "frozen": "froze",
    "disconnected": "lost their screens",
    "off": "had their screens switched off",
}


def _within(seconds: int) -> str:
    if seconds < 1:
        return "at once"
    if seconds < 120:
        return f"within {seconds} s"
    return f"within {seconds // 60} minutes" if seconds < 7200 else f"within {seconds // 3600} hours"


def _likely(
    kind: str, symptoms: Mapping[str, int], unit: str | None, place: Mapping[str, Any] | None, elsewhere: bool
) -> str:
    """The words for the likely cause: network or power for silence and lost connections, content for crashes."""
    if set(symptoms) == {Symptom.SCREEN_FAILED} and unit in {"disconnected", "off"}:
        return "the power of the screens, or somebody at the switch, is the likely cause"
    by_network = sum(symptoms.get(symptom, 0) for symptom in (Symptom.SILENT, Symptom.DISCONNECTED))
    if 2 * by_network < sum(symptoms.values()):
        return "what they were given to show, or an update, is the likely cause"
    if place is None and kind == IncidentKind.CLUSTER:
        if not elsewhere:
            return "they have nothing in common but the time"
        return "a provider they share, the way to the broker or the broker itself is the likely cause"
    network = "the network or power" if Symptom.SILENT in symptoms else "a short break of the network"
    return f"{network} {LIKELY_PLACE[kind if place is None else place['kind']]} is the likely cause"


def why_unheard(silent_since: datetime) -> Phrased:
    """The cause of an incident of kind `listening`: the bridge does not hear the fleet."""
    return fleet_not_heard(since=moment(silent_since))
