"""Which displays fail together: pure grouping of failures by place and moment.

A failure counts by the moment when the display failed (for a silent one its last heartbeat), not when we
noticed: what was cut off at once is noticed over a minute or two. Places are asked first (site, then
subnet), because they name what to look at; what failed at one moment at several places is one cluster.
A crowded place is looked for before any cluster is joined: displays go to the incident of their place, also those
that a cluster has taken already.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar

from shared.vocabulary import IncidentKind, Symptom

K = TypeVar("K", bound=Hashable)
AT_ONCE: Final = timedelta(seconds=60)  # two heartbeats of 30 s: what one event cuts off falls silent within it
CLUSTER_LEAST: Final = 5  # below it a coincidence; the fleet's breaker counts from as many
CLUSTER_PERCENT: Final = 2  # of the fleet: 100,000 displays that fail once a week each lose ten a minute by chance
NETWORK: Final = frozenset({Symptom.SILENT, Symptom.DISCONNECTED})  # what a break of the network looks like
PLACES_LEAST: Final = 3  # places that fail at once are one event elsewhere, not one event each
OLDEST: Final = timedelta(hours=24)  # what failed before is no news, even if we notice it only now


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When failures at one place are an incident."""

    least: int
    """Displays that failed: INCIDENT_MIN_CLIENTS."""
    percent: int
    """Of the place's displays that were heard in the last day: INCIDENT_MIN_PERCENT."""
    window: timedelta
    """Within which they failed: INCIDENT_WINDOW_SECONDS."""


@dataclass(frozen=True, slots=True)
class FailedDisplay:
    """A display that failed lately and belongs to no open incident."""

    uuid: str
    site: str | None
    subnet: str | None
    symptom: Symptom
    at: datetime
    """The moment when it failed."""
    unit: str | None = None
    """The service that failed."""
    was_in: int | None = None
    """The open incident that it has left as well again."""
    noticed_at: datetime | None = None
    """When we noticed; None: as it failed."""
    is_in: int | None = None
    """The open cluster that it is part of: no new failure, but its place may claim it."""


@dataclass(frozen=True, slots=True)
class JoinableIncident:
    """An incident that is open, as far as new failures are compared with it."""

    id: int
    kind: IncidentKind
    key: str
    """The site or the subnet; empty for other kinds."""
    moment: datetime
    """When half of its displays had failed."""
    first_failed_at: datetime
    last_failed_at: datetime
    sites: frozenset[str | None]
    """Where its members stand."""
    symptoms: frozenset[Symptom]
    """How they failed."""
    crowds: int = 0
    """Of a cluster: sites with enough of its members for an incident of their own."""


@dataclass(frozen=True, slots=True)
class Group:
    """Failures that belong together: a new incident, or more of the open one `into`."""

    kind: IncidentKind
    key: str
    failures: tuple[FailedDisplay, ...]
    size: int | None = None
    """Displays of the place that were heard in the last day."""
    into: int | None = None
    absorbs: tuple[int, ...] = ()
    """Open incidents that turn out to be part of this one."""

    @property
    def began_at(self) -> datetime:
        """When its first display failed."""
        return min(failure.at for failure in self.failures)

    @property
    def moment(self) -> datetime:
        """When half of its displays had failed: one that failed alone a while before does not move it."""
        return sorted(failure.at for failure in self.failures)[(len(self.failures) - 1) // 2]

    @property
    def symptoms(self) -> frozenset[Symptom]:
        """How its displays failed."""
        return frozenset(failure.symptom for failure in self.failures)


def one_each(failures: Iterable[FailedDisplay]) -> list[FailedDisplay]:
    """One failure of each display, the gravest: silent before crashed, service failed, disconnected."""
    gravest: dict[str, FailedDisplay] = {}
    order = list(Symptom)
    for failure in failures:
        known = gravest.get(failure.uuid)
        if known is None or order.index(failure.symptom) < order.index(known.symptom):
            gravest[failure.uuid] = failure
    return list(gravest.values())


class Census(Protocol):
    """How large places and the fleet are: displays that were heard in the last day."""

    def sites(self, names: Collection[str]) -> Mapping[str, int]: ...

    def subnets(self, names: Collection[str]) -> Mapping[str, int]: ...

    def fleet(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """Where new failures belong."""

    joins: Mapping[int, Sequence[FailedDisplay]]
    """More of open incidents, by id."""
    groups: Sequence[Group]


def plan(
    failures: Sequence[FailedDisplay],
    members: Sequence[FailedDisplay],
    open_incidents: Collection[JoinableIncident],
    limits: Thresholds,
    census: Census,
    now: datetime,
) -> Plan:
    """Where these new failures belong; `members` are the displays of open clusters at the same places.

    1. An open incident of their place. A loss of the broker at the moment of an open cluster is that cluster's.
    2. A place that is crowded with what is left and with members of clusters.
    3. An open cluster, by its moment.
    4. A new cluster.
    """
    clusters_open = [o for o in open_incidents if o.kind is IncidentKind.CLUSTER]
    joins, rest = joining(failures, [o for o in open_incidents if o not in clusters_open], limits.window)
    light = [failure for failure in rest if failure.symptom is Symptom.DISCONNECTED]
    more, _ = joining(light, clusters_open, limits.window)
    rest = _but(rest, more)
    groups = _crowded_places(rest, members, limits, census)
    rest = without(rest, groups)
    late, rest = joining(rest, clusters_open, limits.window)
    for incident_id, some in [*more.items(), *late.items()]:
        joins.setdefault(incident_id, []).extend(some)
    if may_cluster(rest):
        groups += clusters(rest, census.fleet(), now)
    return Plan(joins, merged(groups, open_incidents, limits.window))


def _but(failures: Iterable[FailedDisplay], taken: Mapping[int, Iterable[FailedDisplay]]) -> list[FailedDisplay]:
    uuids = {failure.uuid for some in taken.values() for failure in some}
    return [failure for failure in failures if failure.uuid not in uuids]


def _crowded_places(
    failures: Sequence[FailedDisplay], members: Sequence[FailedDisplay], limits: Thresholds, census: Census
) -> list[Group]:
    """Sites, then subnets, that are crowded with these, a new failure among them."""
    groups: list[Group] = []
    for kind, sizes in ((IncidentKind.SITE, census.sites), (IncidentKind.SUBNET, census.subnets)):
        rest = without([*failures, *members], groups)
        found = crowded(rest, PLACES[kind], limits)
        news = {key: some for key, some in found.items() if any(failure.is_in is None for failure in some)}
        groups += at_places(kind, news, sizes(list(news)) if news else {}, limits)
    return groups


def joining(
    failures: Iterable[FailedDisplay], open_incidents: Collection[JoinableIncident], window: timedelta
) -> tuple[dict[int, list[FailedDisplay]], list[FailedDisplay]]:
    """Those that belong to one of these open incidents, by its id, and the rest.

    A display that was in it already, or stands at its place and failed within the window of its failures, or
    failed at the moment of an open cluster.
    """
    joins: dict[int, list[FailedDisplay]] = {}
    rest = []
    for failure in failures:
        incident_id = next((o.id for o in open_incidents if _belongs(failure, o, window)), None)
        if incident_id is None:
            rest.append(failure)
        else:
            joins.setdefault(incident_id, []).append(failure)
    return joins, rest


def _belongs(failure: FailedDisplay, incident: JoinableIncident, window: timedelta) -> bool:
    """A loss of the broker counts at the incident's moment only: a flapping one would keep it open for ever."""
    is_at_once = abs(failure.at - incident.moment) <= AT_ONCE
    if failure.symptom is Symptom.DISCONNECTED and not is_at_once:
        return False
    if failure.was_in == incident.id:
        return True
    if incident.kind is IncidentKind.CLUSTER:
        likewise = NETWORK if failure.symptom in NETWORK else {failure.symptom}
        return is_at_once and not incident.symptoms.isdisjoint(likewise)
    place = {IncidentKind.SITE: failure.site, IncidentKind.SUBNET: failure.subnet}.get(incident.kind)
    return place == incident.key and incident.first_failed_at - window <= failure.at <= incident.last_failed_at + window


Place = Callable[[FailedDisplay], str | None]
PLACES: Final[Mapping[IncidentKind, Place]] = {
    IncidentKind.SITE: lambda failure: failure.site,
    IncidentKind.SUBNET: lambda failure: failure.subnet,
}
"""The key of an incident of this kind; None where the display has none."""


def crowded(failures: Iterable[FailedDisplay], place: Place, limits: Thresholds) -> dict[str, list[FailedDisplay]]:
    """The places with enough failures within the window, by place: their sizes decide whether it is an incident."""
    found = {}
    for key, at_place in _by(place, failures).items():
        together = _together(at_place, limits.window)
        if key is not None and len(together) >= limits.least:
            found[key] = together
    return found


def _by(key: Callable[[FailedDisplay], K], failures: Iterable[FailedDisplay]) -> dict[K, list[FailedDisplay]]:
    found: dict[K, list[FailedDisplay]] = {}
    for failure in failures:
        found.setdefault(key(failure), []).append(failure)
    return found


def _together(failures: Sequence[FailedDisplay], window: timedelta) -> list[FailedDisplay]:
    """The most displays that failed within the window.

    Displays that only lost the broker belong to it when two or more lost it at once: one display whose
    connection flaps says nothing about its neighbours.
    """
    grave = [failure for failure in failures if failure.symptom is not Symptom.DISCONNECTED]
    light = densest((failure for failure in failures if failure.symptom is Symptom.DISCONNECTED), AT_ONCE)
    return densest(grave, window) + (light if len(light) > 1 else [])


def densest(failures: Iterable[FailedDisplay], span: timedelta) -> list[FailedDisplay]:
    """The most failures of which no two are further apart than the span; of as many, the earliest."""
    ordered = sorted(failures, key=lambda failure: (failure.at, failure.uuid))
    best, first = (0, 0), 0
    for last, failure in enumerate(ordered):
        while failure.at - ordered[first].at > span:
            first += 1
        if last + 1 - first > best[1] - best[0]:
            best = (first, last + 1)
    return ordered[best[0] : best[1]]


def at_places(
    kind: IncidentKind, found: Mapping[str, Sequence[FailedDisplay]], sizes: Mapping[str, int], limits: Thresholds
) -> list[Group]:
    """The crowded places where the share is high enough, each as a group, in the order of their names."""
    groups = []
    for key, together in sorted(found.items()):
        size = max(sizes.get(key, 0), len(together))
        if 100 * len(together) >= limits.percent * size:
            groups.append(Group(kind, key, tuple(together), size))
    return groups


def without(failures: Iterable[FailedDisplay], groups: Iterable[Group]) -> list[FailedDisplay]:
    """The failures that are in none of the groups."""
    taken = {failure.uuid for group in groups for failure in group.failures}
    return [failure for failure in failures if failure.uuid not in taken]


def may_cluster(failures: Iterable[FailedDisplay]) -> bool:
    """Whether so many failed at once, and alike, that the size of the fleet decides."""
    return any(len(densest(alike, AT_ONCE)) >= CLUSTER_LEAST for alike in _by(_likeness, failures).values())


def _likeness(failure: FailedDisplay) -> Hashable:
    """What one cause does to displays that have no place in common: all silent, all crashed, one service of all."""
    return NETWORK if failure.symptom in NETWORK else (failure.symptom, failure.unit)


def clusters(failures: Iterable[FailedDisplay], fleet: int, now: datetime) -> list[Group]:
    """What failed alike and at one moment, without a place in common; `fleet`: displays that were heard lately.

    Where one site holds most of them, we wait for a minute: the rest of that site may be noticed only then.
    """
    groups: list[Group] = []
    for alike in _by(_likeness, failures).values():
        rest = alike
        while len(together := densest(rest, AT_ONCE)) >= CLUSTER_LEAST:
            if 100 * len(together) < CLUSTER_PERCENT * fleet or _may_be_a_place(together, now):
                break
            groups.append(Group(IncidentKind.CLUSTER, "", tuple(together)))
            rest = without(rest, groups)
    return groups


def _may_be_a_place(together: Sequence[FailedDisplay], now: datetime) -> bool:
    sizes = {site: len(some) for site, some in _by(PLACES[IncidentKind.SITE], together).items() if site is not None}
    newest = max(failure.noticed_at or failure.at for failure in together)
    return 2 * max(sizes.values(), default=0) > len(together) and now - newest < AT_ONCE


def merged(groups: Sequence[Group], open_incidents: Collection[JoinableIncident], window: timedelta) -> list[Group]:
    """The groups after what belongs together became one.

    A place that has an open incident goes on with it. Three places that failed at once are one cluster, an open
    one's where there is one; what lost the broker for a moment goes to a cluster that did so at once. A site takes
    over the subnets that lie in it.
    """
    going_on = [_going_on(group, open_incidents) for group in groups]
    at_once = _at_once(going_on, open_incidents)
    left = [group for group in going_on if not any(group in cluster for cluster, _ in at_once)]
    taken = {group.into for group in left} | {o.id for _, parts in at_once for o in parts}
    standing = [o for o in open_incidents if o.id not in taken]
    return [_one(*parts) for parts in at_once] + [_with_subnets(group, standing, window) for group in left]


def _going_on(group: Group, open_incidents: Collection[JoinableIncident]) -> Group:
    if group.kind is IncidentKind.CLUSTER:
        return group
    return replace(group, into=next((o.id for o in open_incidents if (o.kind, o.key) == (group.kind, group.key)), None))


Part = Group | JoinableIncident


def _alike(one: Part, other: Part) -> bool:
    """Whether one cause may have made displays of both fail: in the same way, or by the network."""
    symptoms = one.symptoms | (NETWORK if one.symptoms & NETWORK else set())
    return not symptoms.isdisjoint(other.symptoms)


def _at_once(
    groups: Sequence[Group], open_incidents: Collection[JoinableIncident]
) -> list[tuple[list[Group], list[JoinableIncident]]]:
    """New groups and open incidents that failed alike at one moment and are one cluster.

    For an open incident that goes on its new failures stand: it must not be in one cluster and they in another.
    """
    kinds = {IncidentKind.SITE, IncidentKind.SUBNET, IncidentKind.CLUSTER}
    going_on = {group.into for group in groups}
    parts: list[Part] = [*groups, *(o for o in open_incidents if o.kind in kinds and o.id not in going_on)]
    parts.sort(key=lambda part: (part.moment, part.kind, part.key))
    found = []
    while parts:
        first = parts[0]
        together = _one_cluster([p for p in parts if p.moment - first.moment <= AT_ONCE and _alike(first, p)])
        new = [part for part in together if isinstance(part, Group)]
        if new:
            found.append((new, [part for part in together if isinstance(part, JoinableIncident)]))
            parts = [part for part in parts if part not in together]
        else:
            parts = parts[1:]
    return found


def _one_cluster(together: Sequence[Part]) -> list[Part]:
    """Of what failed alike and at once, the parts that are one cluster; none where there is none.

    All of it from three places on. Of fewer a place stands for itself, beside whatever failed elsewhere: but what lost
    the broker and came back is no fault of the place where others elsewhere did the same.
    """
    clusters_here = [part for part in together if part.kind is IncidentKind.CLUSTER]
    places = [part for part in together if part.kind is not IncidentKind.CLUSTER]
    crowds = sum(part.crowds for part in clusters_here if isinstance(part, JoinableIncident))
    if places and len(places) + crowds >= PLACES_LEAST:
        return list(together)
    one = [*clusters_here, *(part for part in places if part.symptoms == {Symptom.DISCONNECTED})]
    return one if clusters_here and len(one) > 1 else []


def _one(groups: Sequence[Group], open_incidents: Sequence[JoinableIncident]) -> Group:
    into = next((o.id for o in open_incidents if o.kind is IncidentKind.CLUSTER), None)
    parts = {*(o.id for o in open_incidents), *(group.into for group in groups if group.into is not None)}
    absorbs = tuple(sorted(parts - {into}))
    failures = tuple(failure for group in groups for failure in group.failures)
    return Group(IncidentKind.CLUSTER, "", failures, None, into, absorbs)


def _with_subnets(group: Group, open_incidents: Collection[JoinableIncident], window: timedelta) -> Group:
    """A site's group, with the open subnets whose displays all stand there and failed with it."""
    if group.kind is not IncidentKind.SITE:
        return group
    within = tuple(
        o.id
        for o in open_incidents
        if o.kind is IncidentKind.SUBNET and o.sites == {group.key} and abs(o.moment - group.moment) <= window
    )
    return replace(group, absorbs=within)
