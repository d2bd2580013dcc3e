"""Displays that fail together become one incident; it lives until all of them have been well for a while."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients import losses_store
from shared.incidents import causes_rules, causes_store, failures_store, rules, store, timeline_rules
from shared.incidents.failures_store import Since
from shared.incidents.rules import THRESHOLDS, FailedDisplay, Group, JoinableIncident, Thresholds
from shared.incidents.store import Membership
from shared.leadership import store as leadership_store
from shared.leadership.rules import Listening, listening
from shared.quiet import operations as quiet_times
from shared.vocabulary import IncidentEventKind, IncidentKind
from shared.words.sentences import Sentence, as_given

REOPENED_WITHIN: Final = timedelta(minutes=30)  # what only lost the broker, or us, again so soon reopens its incident
CLOSES_AFTER: Final = timedelta(minutes=5)  # so long no display of an incident is unwell before it closes
MEMBERS_AT_ONCE: Final = 5_000  # members in one statement, so that half a large fleet stays below the timeout


class IncidentReport(Struct, frozen=True):
    """The counts of one call of `observe`. `deaf`: the bridge does not hear the fleet, so no display was judged."""

    opened: int = 0
    joined: int = 0
    left: int = 0
    merged: int = 0
    closed: int = 0
    deaf: bool = False


def observe(connection: Connection, now: datetime) -> IncidentReport:
    """Update the incidents by the failures since the last call. A lock lets one transaction run at a time.

    1. While the bridge does not hear the fleet, that is the incident, and no display is judged: the states are old.
    2. Displays that are well again leave their incident.
    3. New failures join an open incident, or open one when enough of them belong together. Displays that are well again
       meanwhile leave at once. What fails while its screen is meant to be off is judged afterwards.
    4. What has changed is counted. An incident without an unwell display for CLOSES_AFTER is closed.

    Running it twice, or half and again, gives the same result: a display in an open incident is no new failure.
    """
    store.lock_incidents(connection)
    heard = listening(leadership_store.bridge_status(connection), now)
    if heard.deaf or heard.since is None:
        return _deaf(connection, now, heard)
    closed = _close(connection, now, store.close_listening(connection, now), timeline_rules.fleet_heard_again())
    if left := store.leave_well(connection, now):
        store.count_members(connection, now, ())
    opened, joined, merged = _group(connection, now, THRESHOLDS, _since(connection, now))
    if joined and (back := store.leave_well(connection, now)):
        left += back
        store.count_members(connection, now, ())
    well = store.close_well(connection, now, now - CLOSES_AFTER)
    closed += _close(connection, now, well, timeline_rules.all_well_again())
    return IncidentReport(opened, joined, left, merged, closed)


def open_incident_of(connection: Connection, uuids: Collection[str]) -> dict[str, Membership]:
    """The open incidents of these clients, by uuid; clients that are in none, or well again, are left out."""
    return {found.uuid: found for found in store.open_of(connection, uuids)}


def _deaf(connection: Connection, now: datetime, heard: Listening) -> IncidentReport:
    """Open an incident of kind `listening`, unless the bridge never gave a sign: then it was not started yet."""
    if heard.deaf_since is None:
        return IncidentReport(deaf=True)
    words = causes_rules.why_unheard(heard.deaf_since)
    if store.find_open(connection, IncidentKind.LISTENING, "") is not None:
        return IncidentReport(deaf=True)
    if _reopen(connection, now, IncidentKind.LISTENING, "") is None:
        store.insert(connection, now, IncidentKind.LISTENING, "", heard.deaf_since, words, None)
    return IncidentReport(opened=1, deaf=True)


def _since(connection: Connection, now: datetime) -> Since:
    """Which failures to judge: those noticed since one window before the last call; earlier ones were too few."""
    oldest = now - rules.OLDEST
    noticed = min(store.look(connection, now) or now, now) - THRESHOLDS.window
    return Since(max(noticed, oldest), oldest)


class _Census(Struct, frozen=True):
    """How many displays were heard in the last day; counted only when it decides."""

    connection: Connection
    heard_since: datetime

    def sites(self, names: Collection[str]) -> dict[str, int]:
        return failures_store.sites(self.connection, names, self.heard_since)

    def subnets(self, names: Collection[str]) -> dict[str, int]:
        return failures_store.subnets(self.connection, names, self.heard_since)

    def fleet(self) -> int:
        return failures_store.fleet(self.connection, self.heard_since)


def _group(connection: Connection, now: datetime, limits: Thresholds, since: Since) -> tuple[int, int, int]:
    """Find where the new failures belong and write it. Returns how many opened, joined and merged."""
    unsteady = losses_store.unsteady(connection, now)
    quiet = quiet_times.now_quiet(connection, now, since.noticed)
    uuids = [display.uuid for display in unsteady]
    failures = rules.one_each(failures_store.failed(connection, now, since, uuids, quiet))
    if not failures:
        return 0, 0, 0
    known = store.open_incidents(connection, limits.least, limits.percent)
    members = _members_beside(connection, failures, known)
    plan = rules.plan(failures, members, known, limits, _Census(connection, now - rules.OLDEST), now)
    joined = sum(_join(connection, now, incident_id, more, None) for incident_id, more in plan.joins.items())
    opened = merged = 0
    for group in plan.groups:
        is_new, absorbed = _write(connection, now, group, known)
        opened, joined, merged = opened + is_new, joined + len(group.failures), merged + absorbed
    if joined:
        store.count_members(connection, now, [incident.id for incident in known if not incident.key])
    return opened, joined, merged


def _members_beside(
    connection: Connection, failures: Sequence[FailedDisplay], known: Sequence[JoinableIncident]
) -> list[FailedDisplay]:
    """The members of open clusters, and of incidents since these waned, at the places of new failures."""
    if not any(incident.kind is IncidentKind.CLUSTER or incident.has_waned for incident in known):
        return []
    sites = {failure.site for failure in failures if failure.site is not None}
    subnets = {failure.subnet for failure in failures if failure.subnet is not None}
    return failures_store.members_at(connection, sites, subnets)


def _write(connection: Connection, now: datetime, group: Group, known: Sequence[JoinableIncident]) -> tuple[bool, int]:
    """Write one group. Returns whether its incident is new, and how many incidents it absorbed."""
    incident_id, is_new = group.into, False
    if incident_id is None:
        incident_id, is_new = _open(connection, now, group), True
    absorbed = [
        *store.absorb(connection, now, incident_id, group.absorbs),
        *_claim(connection, now, incident_id, group),
    ]
    store.carry(connection, incident_id, absorbed)
    known_by_id = {incident.id: incident for incident in known}
    store.record(connection, now, absorbed, IncidentEventKind.MERGED, timeline_rules.part_of_another(id=incident_id))
    for part in absorbed:
        words = timeline_rules.has_part(id=part, kind=known_by_id[part].kind, key=known_by_id[part].key)
        store.record(connection, now, [incident_id], IncidentEventKind.MERGED, words)
    _join(connection, now, incident_id, group.failures, group.size)
    return is_new, len(absorbed)


def _claim(connection: Connection, now: datetime, incident_id: int, group: Group) -> Sequence[int]:
    """Move the displays of a place out of their clusters. Returns the clusters that are then too small and closed."""
    if group.kind is IncidentKind.CLUSTER:
        return ()
    uuids = [failure.uuid for failure in group.failures]
    waned = store.claim(connection, incident_id, uuids, group.began_at - rules.AT_ONCE)
    gone = store.dissolve(connection, now, incident_id, waned, rules.CLUSTER_LEAST)
    for cluster in waned:
        if cluster not in gone:
            _describe(connection, now, cluster)
    return gone


def _open(connection: Connection, now: datetime, group: Group) -> int:
    """Open an incident for a group, after the one of its place before. Losses of the broker reopen that one."""
    kind, key = group.kind, group.key
    if group.is_light and (again := _reopen(connection, now, kind, key)) is not None:
        return again
    before = group.again_of
    if before is None:
        uuids = [failure.uuid for failure in group.failures] if kind is IncidentKind.CLUSTER else []
        before = store.former(connection, kind, key, uuids, now - rules.OLDEST)
    else:
        store.close(connection, now, before)
        store.record(connection, now, [before], IncidentEventKind.CLOSED, timeline_rules.failed_again())
    new = store.insert(connection, now, kind, key, group.began_at, as_given(text=""), before)
    if group.again_of is not None:
        store.move_present(connection, group.again_of, new)
    return new


def _reopen(connection: Connection, now: datetime, kind: IncidentKind, key: str) -> int | None:
    again = store.reopen(connection, kind, key, now - REOPENED_WITHIN)
    if again is not None:
        store.record(connection, now, [again], IncidentEventKind.REOPENED, timeline_rules.failed_again())
    return again


def _join(
    connection: Connection, now: datetime, incident_id: int, failures: Sequence[FailedDisplay], size: int | None
) -> int:
    """Add displays to an incident and update its cause. Returns how many joined."""
    parts = (failures[at : at + MEMBERS_AT_ONCE] for at in range(0, len(failures), MEMBERS_AT_ONCE))
    count = sum(store.add_members(connection, now, incident_id, part) for part in parts)
    if size is not None:
        store.set_size(connection, incident_id, size)
    _describe(connection, now, incident_id)
    return count


def _describe(connection: Connection, now: datetime, incident_id: int) -> None:
    facts = causes_store.facts(connection, incident_id, now)
    if facts is not None:
        causes_store.describe(connection, incident_id, causes_rules.cause(facts), facts.first_failed_at)


def _close(connection: Connection, now: datetime, incident_ids: Sequence[int], words: Sentence) -> int:
    store.record(connection, now, incident_ids, IncidentEventKind.CLOSED, words)
    return len(incident_ids)
