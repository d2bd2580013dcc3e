"""Which failures belong to one incident."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.incidents import rules
from shared.incidents.rules import FailedDisplay, Group, JoinableIncident
from shared.vocabulary import IncidentKind, Symptom

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=30)
LIMITS = rules.THRESHOLDS
SITE, SUBNET, CLUSTER = IncidentKind.SITE, IncidentKind.SUBNET, IncidentKind.CLUSTER
SILENT, CRASHED = Symptom.SILENT, Symptom.CRASHED
SERVICE_FAILED, DISCONNECTED = Symptom.SERVICE_FAILED, Symptom.DISCONNECTED


def failed(name: str, at: float, site: str | None = "Rome", **more: Any) -> FailedDisplay:
    """A display that failed `at` seconds after NOW."""
    facts = {"subnet": None, "symptom": SILENT, **more}
    return FailedDisplay(name, site, at=NOW + timedelta(seconds=at), **facts)


def some(count: int, at: float = 0, site: str | None = "Rome", **more: Any) -> list[FailedDisplay]:
    """`count` failures, a second apart."""
    return [failed(f"{site}-{at}-{n}", at + n, site, **more) for n in range(count)]


def opened(number: int, kind: IncidentKind, key: str, at: float = 0, **more: Any) -> JoinableIncident:
    began = NOW + timedelta(seconds=at)
    facts = {
        "first_failed_at": began,
        "last_failed_at": began,
        "sites": frozenset({key} if kind is SITE else ()),
        "symptoms": frozenset({SILENT}),
        **more,
    }
    return JoinableIncident(number, kind, key, began, **facts)


@dataclass(frozen=True)
class Fixed:
    """A census with fixed sizes of places; other places have no heard displays."""

    displays: int = 300
    places: Mapping[str, int] = field(default_factory=dict)

    def sites(self, names: Collection[str]) -> dict[str, int]:
        return {name: self.places[name] for name in names if name in self.places}

    subnets = sites

    def fleet(self) -> int:
        return self.displays


def by_site(failures: Iterable[FailedDisplay], sizes: dict[str, int]) -> list[Group]:
    return rules.at_places(SITE, rules.crowded(failures, rules.PLACES[SITE], LIMITS), sizes, LIMITS)


def names(failures: Iterable[FailedDisplay]) -> list[str]:
    return sorted(failure.uuid for failure in failures)


AT_ONE_SITE = [
    (some(3), 10, True, "three of ten"),
    (some(2), 2, False, "two are a coincidence"),
    (some(3), 11, False, "less than the share"),
    (some(3), 0, True, "a site of displays that were not heard for a day"),
    ([failed("a", 0), failed("b", 150), failed("c", 300)], 10, True, "just within the window"),
    ([failed("a", 0), failed("b", 150), failed("c", 301)], 10, False, "one too late"),
    (some(3, site=None), 3, False, "nobody's site is no place"),
    (some(3, symptom=DISCONNECTED), 10, True, "cut off together"),
    ([*some(2), failed("flaps", 0, symptom=DISCONNECTED)], 10, False, "two and one that flaps"),
    ([failed(n, 50 * i, symptom=DISCONNECTED) for i, n in enumerate("abc")], 10, False, "cut off one by one"),
]


@pytest.mark.parametrize(("failures", "size", "is_one", "note"), AT_ONE_SITE, ids=[n for *_, n in AT_ONE_SITE])
def test_enough_displays_of_a_site_within_the_window_are_an_incident(
    failures: list[FailedDisplay], size: int, is_one: bool, note: str
) -> None:
    assert bool(by_site(failures, {"Rome": size})) is is_one


def test_those_far_from_the_others_in_time_are_left_out_of_the_group() -> None:
    [group] = by_site([*some(4), failed("long dead", -9000)], {"Rome": 5})

    assert (len(group.failures), group.size, group.began_at) == (4, 5, NOW)


def test_of_one_displays_failures_the_gravest_counts() -> None:
    both = [failed("a", 0, symptom=DISCONNECTED), failed("a", 9, symptom=SILENT), failed("b", 0, symptom=CRASHED)]

    assert [(f.uuid, f.symptom) for f in rules.one_each(both)] == [("a", SILENT), ("b", CRASHED)]


def test_what_has_no_place_in_common_but_the_moment_is_a_cluster() -> None:
    scattered = [failed(f"d{n}", n, site=f"site {n}") for n in range(6)]

    assert rules.may_cluster(scattered)
    assert [names(g.failures) for g in rules.clusters(scattered, 300, LATER)] == [names(scattered)]
    assert rules.clusters(scattered, 301, LATER) == []  # this many fail by chance in such a large fleet
    assert not rules.may_cluster(scattered[:4])


def test_what_fails_at_once_but_each_in_its_own_way_is_a_coincidence() -> None:
    ways: list[dict[str, Any]] = [{"symptom": SILENT}, {"symptom": DISCONNECTED}, {"symptom": CRASHED}]
    ways += [{"symptom": SERVICE_FAILED, "unit": unit} for unit in ("a.service", "b.service")]
    mixed = [failed(f"d{n}", n, None, **ways[n % 5]) for n in range(10)]

    assert not rules.may_cluster(mixed)
    assert rules.clusters(mixed, 10, LATER) == []
    assert (
        len(rules.clusters([*mixed, *some(3, 0, None)], 10, LATER)[0].failures) == 7
    )  # silent or cut off: one network


def test_what_stands_mostly_at_one_site_waits_a_minute_for_the_rest_of_that_site() -> None:
    mostly = [*some(6, 0, "Rome"), failed("o", 3, "Oslo"), failed("l", 3, "Lyon")]
    noticed = [replace(failure, noticed_at=NOW + timedelta(seconds=200)) for failure in mostly]

    assert rules.clusters(noticed, 300, NOW + timedelta(seconds=230)) == []
    assert len(rules.clusters(noticed, 300, NOW + timedelta(seconds=260))) == 1


def test_two_moments_are_two_clusters() -> None:
    early, late = some(5, 0, site=None), some(7, 200, site=None)

    assert [len(g.failures) for g in rules.clusters([*early, *late], 100, LATER)] == [7, 5]


JOINS = [
    (failed("x", 100), opened(1, SITE, "Rome"), True, "the same site soon after"),
    (failed("x", 100, site="Oslo"), opened(1, SITE, "Rome"), False, "another site"),
    (failed("x", 301), opened(1, SITE, "Rome"), False, "long after the last one"),
    (failed("x", 301), opened(1, SITE, "Rome", last_failed_at=NOW + timedelta(seconds=60)), True, "after the last"),
    (failed("x", 9999, was_in=1), opened(1, SITE, "Rome"), True, "it came back for a while"),
    (failed("x", 9999, was_in=1, symptom=DISCONNECTED), opened(1, SITE, "Rome"), False, "it flaps"),
    (failed("x", 61, symptom=DISCONNECTED), opened(1, SITE, "Rome"), False, "cut off later"),
    (failed("x", 60, symptom=DISCONNECTED), opened(1, SITE, "Rome"), True, "cut off when others fell silent there"),
    (failed("x", 60, site=None), opened(1, CLUSTER, ""), True, "the moment of a cluster"),
    (failed("x", 60, None, symptom=CRASHED), opened(1, CLUSTER, ""), False, "at a cluster's moment in another way"),
    (failed("x", 60, None, symptom=DISCONNECTED), opened(1, CLUSTER, ""), True, "cut off with a cluster"),
    (failed("x", 61, site=None), opened(1, CLUSTER, ""), False, "after the moment of a cluster"),
    (failed("x", 9, subnet="10.1.2.0/24"), opened(1, SUBNET, "10.1.2.0/24"), True, "the same subnet"),
    (failed("x", 9, site=None), opened(1, SUBNET, "10.1.2.0/24"), False, "no subnet known"),
]


@pytest.mark.parametrize(("failure", "incident", "joins", "note"), JOINS, ids=[n for *_, n in JOINS])
def test_a_new_failure_joins_the_open_incident_that_it_fits(
    failure: FailedDisplay, incident: JoinableIncident, joins: bool, note: str
) -> None:
    found, rest = rules.joining([failure], [incident], LIMITS.window)

    assert (found, rest) == (({1: [failure]}, []) if joins else ({}, [failure]))


def merged(groups: list[Group], *known: JoinableIncident) -> list[Group]:
    return rules.merged(groups, known, LIMITS)


def at_site(name: str, at: float, count: int = 3) -> Group:
    return Group(SITE, name, tuple(some(count, at, name)), count)


def test_two_sites_at_once_are_two_incidents() -> None:
    groups = [at_site("Rome", 0), at_site("Oslo", 9)]

    assert merged(groups) == groups


def test_three_sites_at_once_are_one_cluster() -> None:
    [one] = merged([at_site("Rome", 0), at_site("Oslo", 9), at_site("Lyon", 58)])

    assert (one.kind, one.key, len(one.failures), one.size, one.into) == (CLUSTER, "", 9, None, None)


def test_three_sites_one_after_the_other_are_three_incidents() -> None:
    groups = [at_site("Rome", 0), at_site("Oslo", 61), at_site("Lyon", 122)]

    assert merged(groups) == groups


def test_a_third_site_that_is_noticed_later_takes_the_open_two_into_one_cluster() -> None:
    [one] = merged([at_site("Lyon", 40)], opened(1, SITE, "Rome", 0), opened(2, SITE, "Oslo", 30))

    assert (one.kind, one.into, one.absorbs, len(one.failures)) == (CLUSTER, None, (1, 2), 3)


def test_a_site_beside_an_open_cluster_stays_an_incident_of_its_own() -> None:
    lyon = at_site("Lyon", 40)

    assert merged([lyon], opened(7, CLUSTER, "", 10)) == [lyon]


def test_a_site_beside_a_cluster_of_whole_sites_goes_into_it() -> None:
    """A provider fails: three sites are already one cluster, and the rest is noticed a minute later."""
    [one] = merged([at_site("Lyon", 40)], opened(7, CLUSTER, "", 10, crowds=3))

    assert (one.kind, one.into, one.absorbs) == (CLUSTER, 7, ())


def test_a_site_that_was_cut_off_with_others_elsewhere_goes_into_their_cluster() -> None:
    light = Group(SITE, "Lyon", tuple(some(4, 10, "Lyon", symptom=DISCONNECTED)), 4)

    [one] = merged([light], opened(7, CLUSTER, "", 10, symptoms=frozenset({DISCONNECTED})))

    assert (one.kind, one.into) == (CLUSTER, 7)


def test_one_display_that_failed_alone_before_does_not_part_what_failed_at_once() -> None:
    early = Group(SITE, "Rome", (failed("alone", -250), *some(3, 0, "Rome")), 4)

    [one] = merged([early, at_site("Oslo", 9), at_site("Lyon", 58)])

    assert (one.kind, len(one.failures), one.began_at) == (CLUSTER, 10, NOW - timedelta(seconds=250))


def test_incidents_that_began_long_ago_stay_what_they_are() -> None:
    old = [opened(n, SITE, f"site {n}", -9000) for n in (1, 2, 3)]
    new = at_site("Lyon", 0)

    assert merged([new], *old) == [new]


def test_a_site_that_has_an_open_incident_goes_on_with_it() -> None:
    [one] = merged([at_site("Rome", 9000)], opened(4, SITE, "Rome", 0))

    assert (one.kind, one.into, one.absorbs) == (SITE, 4, ())


def test_a_site_takes_over_a_subnet_that_lies_in_it() -> None:
    within = opened(1, SUBNET, "10.1.2.0/24", sites=frozenset({"Rome"}))
    beyond = opened(2, SUBNET, "10.1.3.0/24", sites=frozenset({"Rome", None}))

    [one] = merged([at_site("Rome", 90, 9)], within, beyond)

    assert (one.kind, one.key, one.absorbs) == (SITE, "Rome", (1,))


def test_a_cluster_takes_over_no_incident_whose_new_failures_it_lacks() -> None:
    rome = opened(1, SITE, "Rome", 0)
    cluster = rules.clusters([failed(f"c{n}", 0, None) for n in range(5)], 5, LATER)
    [going_on] = by_site([failed(f"r{n}", 301, "Rome") for n in range(3)], {})

    found = merged([*cluster, going_on], rome)

    assert [(one.kind, one.into, one.absorbs) for one in found] == [(CLUSTER, None, ()), (SITE, 1, ())]


# --- a place with many failures comes before a cluster ---

BASEL = {"Basel": 25}


def plan(
    failures: list[FailedDisplay], *known: JoinableIncident, members: Iterable[FailedDisplay] = (), **places: int
) -> rules.Plan:
    return rules.plan(failures, list(members), known, LIMITS, Fixed(300, BASEL | places), LATER)


def brief(found: rules.Plan) -> list[tuple[IncidentKind, str, int, int | None]]:
    """(kind, key, displays, into) of each group."""
    return [(group.kind, group.key, len(group.failures), group.into) for group in found.groups]


def flapped(at: float = 0, **more: Any) -> JoinableIncident:
    sites = frozenset("ABCDE")
    return opened(2, CLUSTER, "", at, **{"symptoms": frozenset({DISCONNECTED}), "sites": sites, **more})


def test_a_dark_shop_beside_a_cluster_of_lost_connections_is_the_shops_incident() -> None:
    dark = some(25, 30, "Basel")

    found = plan(dark, flapped())

    assert (found.joins, brief(found)) == ({}, [(SITE, "Basel", 25, None)])


@pytest.mark.parametrize("symptoms", [{SILENT}, {DISCONNECTED}, {SILENT, DISCONNECTED}], ids=str)
def test_displays_of_the_shop_that_a_cluster_has_taken_move_to_the_shop(symptoms: set[Symptom]) -> None:
    early, late = some(6, 5, "Basel"), some(19, 20, "Basel")
    taken = [replace(failure, is_in=2) for failure in early]

    found = plan(late, flapped(symptoms=frozenset(symptoms)), members=taken)

    assert (found.joins, brief(found)) == ({}, [(SITE, "Basel", 25, None)])


def test_members_of_a_cluster_alone_are_no_news_of_their_place() -> None:
    taken = [replace(failure, is_in=2) for failure in some(25, 5, "Basel")]

    assert plan([failed("x", 5, "Bern")], flapped(), members=taken).groups == []


def test_two_dark_shops_are_two_incidents_beside_a_cluster_of_others() -> None:
    dark = [*some(25, 0, "Basel"), *some(25, 7, "Chur")]
    scattered = [failed(f"s{n}", n, f"shop {n}") for n in range(7)]

    found = plan([*dark, *scattered], Chur=25)

    assert sorted(brief(found)) == [(CLUSTER, "", 7, None), (SITE, "Basel", 25, None), (SITE, "Chur", 25, None)]


def test_a_broker_that_restarts_is_one_incident_however_the_displays_come_back() -> None:
    """Half of the displays are noticed at one tick, too few of each shop; the rest of twelve shops at the next."""
    first = [failed(f"{n}", n % 30, f"shop {n % 12}", symptom=DISCONNECTED) for n in range(60)]
    second = [failed(f"{n}", 30 + n % 20, f"shop {n % 12}", symptom=DISCONNECTED) for n in range(60, 300)]
    sizes = {f"shop {n}": 25 for n in range(12)}

    [one] = rules.plan(first, [], [], LIMITS, Fixed(300, sizes), LATER).groups
    known = opened(1, CLUSTER, "", 15, symptoms=frozenset({DISCONNECTED}), last_failed_at=NOW + timedelta(seconds=30))
    more = rules.plan(second, [], [known], LIMITS, Fixed(300, sizes), LATER)

    assert (one.kind, len(one.failures)) == (CLUSTER, 60)
    assert (list(more.joins), len(more.joins[1]), more.groups) == ([1], 240, [])


def test_one_more_display_of_a_shop_leaves_a_provider_s_cluster_whole() -> None:
    provider = opened(3, CLUSTER, "", 0, crowds=3, sites=frozenset({"Basel", "Bern", "Chur"}))
    taken = [replace(failure, is_in=3) for failure in some(24, 0, "Basel")]

    found = plan([failed("late", 20, "Basel")], provider, members=taken)

    assert brief(found) == [(CLUSTER, "", 25, 3)]


SITES = st.sampled_from([None, "Rome", "Oslo", "Lyon", "Bern"])
SUBNETS = st.sampled_from([None, "10.1.1.0/24", "10.1.2.0/24"])
FAILURES = st.lists(st.tuples(SITES, SUBNETS, st.integers(-900, 900), st.sampled_from(list(Symptom))), max_size=40).map(
    lambda rows: [failed(f"d{n}", at, site, subnet=sub, symptom=s) for n, (site, sub, at, s) in enumerate(rows)]
)


def standing(kind: IncidentKind) -> dict[str, Any]:
    """The displays of an open incident of a subnet are all in Rome."""
    return {"sites": frozenset({"Rome"})} if kind is SUBNET else {}


OPEN = st.lists(
    st.tuples(
        st.sampled_from([(SITE, "Rome"), (SITE, "Oslo"), (SUBNET, "10.1.1.0/24"), (CLUSTER, "")]),
        st.integers(-900, 900),
    ),
    max_size=4,
    unique_by=lambda pair: pair[0],
).map(lambda rows: [opened(n, kind, key, at, **standing(kind)) for n, ((kind, key), at) in enumerate(rows)])


@given(FAILURES, OPEN, st.integers(1, 60))
def test_no_display_is_counted_twice_and_no_incident_absorbed_twice(
    failures: list[FailedDisplay], known: list[JoinableIncident], fleet: int
) -> None:
    plan = rules.plan(failures, [], known, LIMITS, Fixed(fleet), LATER)
    joins, found = plan.joins, plan.groups

    taken = [f.uuid for fs in joins.values() for f in fs] + [f.uuid for g in found for f in g.failures]
    absorbed = [number for group in found for number in group.absorbs]
    targets = [group.into for group in found if group.into is not None]
    assert len(taken) == len(set(taken))
    assert set(taken) <= {f.uuid for f in failures}
    assert len(absorbed) == len(set(absorbed))
    assert not set(absorbed) & set(targets)
    assert all(len(group.failures) >= LIMITS.least for group in found)
    places = [(g.kind, g.key) for g in found if g.kind is not CLUSTER]
    assert len(places) == len(set(places))


@given(st.lists(st.integers(-900, 900), max_size=30), st.integers(0, 300))
def test_the_densest_span_holds_the_most_failures_that_any_span_holds(moments: list[int], seconds: int) -> None:
    failures = [failed(f"d{n}", at) for n, at in enumerate(moments)]
    found = rules.densest(failures, timedelta(seconds=seconds))
    most = max((sum(start <= at <= start + seconds for at in moments) for start in moments), default=0)

    assert len(found) == most
    assert all(f.at - g.at <= timedelta(seconds=seconds) for f in found for g in found)
