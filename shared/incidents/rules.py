"""Group displays that fail together, by place and moment.

A failure counts by the moment when the display failed (for a silent display its last heartbeat), not when we noticed
it: displays that were cut off at once are noticed over a minute or two. Places come first (site, then subnet), because
they show where to look. Displays that failed at one moment at several places are one cluster. A crowded place takes
precedence over clusters: a display goes to the incident of its place, even if a cluster has it already.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from shared.errors import AlreadyTaken
from shared.vocabulary import IncidentKind, Symptom

K = TypeVar("K", bound=Hashable)
AT_ONCE: Final = timedelta(seconds=60)  # two heartbeats of 30 s: one event silences its displays within this time
CLUSTER_LEAST: Final = 5  # fewer failures are a coincidence; the fleet's breaker counts from as many
CLUSTER_PERCENT: Final = 2  # of the fleet: of 100,000 displays that fail once a week, ten fail each minute by chance
NETWORK: Final = frozenset({Symptom.SILENT, Symptom.DISCONNECTED})  # the symptoms of a broken network
PLACES_LEAST: Final = 3  # so many places that fail at once have one cause elsewhere
OLDEST: Final = timedelta(hours=24)  # older failures do not count, even if we notice them only now


class Thresholds(Struct, frozen=True):
    """When failures at one place are an incident."""

    least: int
    """So many displays failed."""
    percent: int
    """So many of the place's displays that were heard in the last day."""
    window: timedelta
    """They failed within this time."""


THRESHOLDS: Final = Thresholds(least=3, percent=30, window=timedelta(minutes=5))  # longer than a display takes to boot


class FailedDisplay(Struct, frozen=True):
    """A display that failed lately."""

    uuid: str
    site: str | None
    subnet: str | None
    symptom: Symptom
    at: datetime
    """The moment when it failed."""
    unit: str | None = None
    """The service that failed."""
    was_in: int | None = None
    """The open incident that it left because it was well again."""
    noticed_at: datetime | None = None
    """When we noticed the failure; None: at once."""
    is_in: int | None = None
    """The open incident that it is part of, a cluster or one that has waned: the incident of its place may have it."""


class JoinableIncident(Struct, frozen=True):
    """An open incident, with the facts that decide which failures join it."""

    id: int
    kind: IncidentKind
    key: str
    """The site or the subnet; empty for other kinds."""
    moment: datetime
    """When half of its displays had failed."""
    first_failed_at: datetime
    last_failed_at: datetime
    sites: frozenset[str | None]
    """The sites of its members."""
    symptoms: frozenset[Symptom]
    """How its members failed."""
    crowds: int = 0
    """For a cluster: how many sites have enough of its members for an incident of their own."""
    has_waned: bool = False
    """Most of its displays have been well again: a crowd that fails now is the next incident."""


class Group(Struct, frozen=True):
    """Failures that belong together: a new incident, or more of the open one `into`."""

    kind: IncidentKind
    key: str
    failures: tuple[FailedDisplay, ...]
    size: int | None = None
    """How many displays of the place were heard in the last day."""
    into: int | None = None
    absorbs: tuple[int, ...] = ()
    """Open incidents that become part of this one."""
    again_of: int | None = None
    """The open incident of this place that had waned. This one follows it."""

    @property
    def began_at(self) -> datetime:
        """When its first display failed."""
        return min(failure.at for failure in self.failures)

    @property
    def moment(self) -> datetime:
        """When half of its displays had failed: a single earlier failure does not change it."""
        return sorted(failure.at for failure in self.failures)[(len(self.failures) - 1) // 2]

    @property
    def symptoms(self) -> frozenset[Symptom]:
        """How its displays failed."""
        return frozenset(failure.symptom for failure in self.failures)

    @property
    def is_light(self) -> bool:
        """Its displays only lost the broker: a place that flaps so all day is one incident."""
        return self.symptoms == {Symptom.DISCONNECTED}


def one_each(failures: Iterable[FailedDisplay]) -> list[FailedDisplay]:
    """The gravest failure of each display, in the order of Symptom."""
    gravest: dict[str, FailedDisplay] = {}
    order = list(Symptom)
    for failure in failures:
        known = gravest.get(failure.uuid)
        if known is None or order.index(failure.symptom) < order.index(known.symptom):
            gravest[failure.uuid] = failure
    return list(gravest.values())


class Census(Protocol):
    """The sizes of places and the fleet: how many displays were heard in the last day."""

    def sites(self, names: Collection[str]) -> Mapping[str, int]: ...

    def subnets(self, names: Collection[str]) -> Mapping[str, int]: ...

    def fleet(self) -> int: ...


class Plan(Struct, frozen=True):
    """Where new failures belong."""

    joins: Mapping[int, Sequence[FailedDisplay]]
    """Failures that join an open incident, by its id."""
    groups: Sequence[Group]


def plan(
    failures: Sequence[FailedDisplay],
    members: Sequence[FailedDisplay],
    open_incidents: Collection[JoinableIncident],
    limits: Thresholds,
    census: Census,
    now: datetime,
) -> Plan:
    """Decide where these new failures belong; `members` are the displays of open clusters at the same places.

    1. Join the open incident of the failure's place. A loss of the broker joins an open cluster of the same moment.
    2. Open an incident of a place that is crowded with the remaining failures and with members of clusters.
    3. Join an open cluster, by its moment.
    4. Open a new cluster.
    5. Join an incident that has waned: these are too few for the next one.
    """
    waned = [o for o in open_incidents if o.has_waned]
    clusters_open = [o for o in open_incidents if o.kind is IncidentKind.CLUSTER]
    joins, rest = joining(failures, [o for o in open_incidents if o not in clusters_open + waned], limits.window)
    light = [failure for failure in rest if failure.symptom is Symptom.DISCONNECTED]
    more, _ = joining(light, clusters_open, limits.window)
    rest = _but(rest, more)
    groups = _crowded_places(rest, members, limits, census)
    rest = without(rest, groups)
    late, rest = joining(rest, [o for o in clusters_open if not o.has_waned], limits.window)
    if may_cluster(rest):
        groups += clusters(rest, census.fleet(), now)
    few, _ = joining(without(rest, groups), waned, limits.window)
    for incident_id, some in [*more.items(), *late.items(), *few.items()]:
        joins.setdefault(incident_id, []).extend(some)
    return Plan(joins, merged(groups, open_incidents, limits))


def _but(failures: Iterable[FailedDisplay], taken: Mapping[int, Iterable[FailedDisplay]]) -> list[FailedDisplay]:
    uuids = {failure.uuid for some in taken.values() for failure in some}
    return [failure for failure in failures if failure.uuid not in uuids]


def _crowded_places(
    failures: Sequence[FailedDisplay], members: Sequence[FailedDisplay], limits: Thresholds, census: Census
) -> list[Group]:
    """Groups of the crowded sites, then of the crowded subnets. Each group has at least one new failure."""
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
    """The failures that belong to one of these open incidents, by its id, and the rest.

    A failure belongs to an incident if its display was in it before; or is at its place and failed within the window of
    its failures; or failed at the moment of the cluster.
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
    """A loss of the broker counts only at the incident's moment: a flapping connection would keep it open for ever."""
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
"""The key of a display for an incident of this kind: its site or its subnet; None when it has none."""


def crowded(failures: Iterable[FailedDisplay], place: Place, limits: Thresholds) -> dict[str, list[FailedDisplay]]:
    """The places with enough failures within the window. `at_places` then compares them with the places' sizes."""
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
    """The largest set of displays that failed within the window.

    Displays that only lost the broker count when two or more lost it at once: one flapping connection says nothing
    about other displays.
    """
    grave = [failure for failure in failures if failure.symptom is not Symptom.DISCONNECTED]
    light = densest((failure for failure in failures if failure.symptom is Symptom.DISCONNECTED), AT_ONCE)
    return densest(grave, window) + (light if len(light) > 1 else [])


def densest(failures: Iterable[FailedDisplay], span: timedelta) -> list[FailedDisplay]:
    """The largest set of failures within the span; of several such sets the earliest."""
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
    """A group for each crowded place where a high enough share of the displays failed, ordered by name."""
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
    """Whether enough displays failed at once and alike for a cluster, if the fleet is small enough."""
    return any(len(densest(alike, AT_ONCE)) >= CLUSTER_LEAST for alike in _by(_likeness, failures).values())


def _likeness(failure: FailedDisplay) -> Hashable:
    """A key for failures that one cause may have: all by the network, all crashed, or the same service of all."""
    return NETWORK if failure.symptom in NETWORK else (failure.symptom, failure.unit)


def clusters(failures: Iterable[FailedDisplay], fleet: int, now: datetime) -> list[Group]:
    """Clusters: failures that are alike and at one moment, without a common place. `fleet` is the fleet's size.

    If one site has most of the failures, wait a minute: we may notice the rest of that site only then.
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


def merged(groups: Sequence[Group], open_incidents: Collection[JoinableIncident], limits: Thresholds) -> list[Group]:
    """Merge groups and open incidents that belong together.

    A group of a place joins the open incident of the place. Three places that failed at once become one cluster, an
    open one if there is one. A place that only lost the broker joins a cluster of the same moment. A site absorbs the
    incidents of its subnets.
    """
    going_on = [_going_on(group, open_incidents, limits.least) for group in groups]
    at_once = _at_once(going_on, open_incidents)
    left = [group for group in going_on if not any(group in cluster for cluster, _ in at_once)]
    taken = {group.into for group in left} | {o.id for _, parts in at_once for o in parts}
    standing = [o for o in open_incidents if o.id not in taken]
    return [_one(*parts) for parts in at_once] + [_with_subnets(group, standing, limits.window) for group in left]


def _going_on(group: Group, open_incidents: Collection[JoinableIncident], least: int) -> Group:
    """The group with the open incident of its place: the one that it joins, or that had waned and that it follows."""
    if group.kind is IncidentKind.CLUSTER:
        return group
    here = next((o for o in open_incidents if (o.kind, o.key) == (group.kind, group.key)), None)
    grave = sum(failure.symptom is not Symptom.DISCONNECTED for failure in group.failures)
    if here is not None and here.has_waned and grave >= least:
        return replace(group, again_of=here.id)
    return replace(group, into=None if here is None else here.id)


Part = Group | JoinableIncident


def _alike(one: Part, other: Part) -> bool:
    """Whether both may have one cause: they have a symptom in common, or both have one of the network's."""
    symptoms = one.symptoms | (NETWORK if one.symptoms & NETWORK else set())
    return not symptoms.isdisjoint(other.symptoms)


def _at_once(
    groups: Sequence[Group], open_incidents: Collection[JoinableIncident]
) -> list[tuple[list[Group], list[JoinableIncident]]]:
    """Sets of new groups and open incidents that failed alike at one moment and become one cluster each.

    An open incident with new failures is represented by its group: both must end in the same cluster.
    """
    kinds = {IncidentKind.SITE, IncidentKind.SUBNET, IncidentKind.CLUSTER}
    going_on = {group.into or group.again_of for group in groups}
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
    """The parts that become one cluster, of parts that failed alike and at once; empty when there is no cluster.

    With three places or more, all parts do. With fewer, a place keeps its own incident. But a place whose displays only
    lost the broker joins the cluster, because displays elsewhere lost it too.
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
    """A site's group that absorbs the open incidents of subnets whose displays are all there and failed with it."""
    if group.kind is not IncidentKind.SITE:
        return group
    within = tuple(
        o.id
        for o in open_incidents
        if o.kind is IncidentKind.SUBNET and o.sites == {group.key} and abs(o.moment - group.moment) <= window
    )
    return replace(group, absorbs=within)


class Holder(Struct, frozen=True):
    """Who looks after a trouble, since when, and that person's note. Nobody: all are None."""

    taken_by: str | None = None
    taken_at: datetime | None = None
    note: str | None = None


NOBODY: Final = Holder()


def taken(was: Holder, by: str, now: datetime, note: str | None, instead_of: str | None) -> Holder:
    """The trouble after `by` takes it. Who has it already keeps its time, and without a `note` the note.

    `instead_of`: the person from whom the caller takes it over.

    Raises:
        AlreadyTaken: somebody else has it.
    """
    if was.taken_by == by:
        return Holder(by, was.taken_at, was.note if note is None else note or None)
    if was.taken_by is not None and was.taken_by != instead_of:
        raise _by_another(was)
    return Holder(by, now, note or None)


def given_back(was: Holder, by: str) -> Holder:
    """The trouble after `by` gives it back. Raises AlreadyTaken when somebody else has it."""
    if was.taken_by not in {None, by}:
        raise _by_another(was)
    return NOBODY


def _by_another(was: Holder) -> AlreadyTaken:
    return AlreadyTaken(facts={"by": was.taken_by}, taken_by=was.taken_by, taken_at=was.taken_at)
