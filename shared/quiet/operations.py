"""Use cases of quiet times: people make, change and end them; whoever acts by itself asks what is quiet now.

Making one waits until no tick recovers and no batch sends. So after its answer nothing is sent that it forbids.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection

from shared.errors import (
    ClientsUnknown,
    OpeningHoursExist,
    QuietTimeNotFound,
    QuietTimeOver,
    QuietTimesRefused,
)
from shared.postgres.door import scrub
from shared.quiet import rules, store
from shared.quiet.rules import KeptQuietTime, QuietNow, QuietOn, WantedQuietTime
from shared.vocabulary import Quiet, QuietPreset, QuietScope, QuietState


def make(connection: Connection, now: datetime, wanted: WantedQuietTime, by: str) -> KeptQuietTime:
    """Store a quiet time. One that began before is on from now.

    Raises:
        QuietTimesRefused, TimeZoneUnknown: its times do not fit.
        ClientsUnknown: some of its clients do not exist.
        OpeningHoursExist: the fleet, the site or the tag has opening hours.
    """
    wanted = replace(wanted, reason=scrub(wanted.reason), clients=tuple(dict.fromkeys(wanted.clients)))
    store.lock_senders(connection)
    checked = rules.checked(wanted, now)
    unknown = sorted(set(checked.clients) - store.known_clients(connection, checked.clients)) if checked.clients else []
    if unknown:
        raise ClientsUnknown("some_clients_unknown", facts={"count": len(unknown)}, uuids=unknown[:100])
    place = (checked.scope, checked.site, checked.tag)
    if checked.preset is QuietPreset.OPENING_HOURS:
        store.end_old_hours(connection, now, *place, by)
    return _inserted(connection, now, checked, by)


def _inserted(connection: Connection, now: datetime, wanted: WantedQuietTime, by: str) -> KeptQuietTime:
    """A new quiet time. Raises OpeningHoursExist."""
    made = store.insert(connection, now, wanted, by)
    if made is None:
        raise OpeningHoursExist(quiet_time_id=store.opening_hours_of(connection, wanted.scope, wanted.site, wanted.tag))
    return made


def change(connection: Connection, now: datetime, quiet_id: int, changes: Mapping[str, Any], by: str) -> KeptQuietTime:
    """Change its times or its reason. One that has begun and gets other hours ends, and a new one goes on from now.

    So the past stays as it was. Returns the quiet time, or the new one.

    Raises:
        QuietTimeNotFound: there is none with this id.
        QuietTimeOver: it is over or ended.
        QuietTimesRefused, TimeZoneUnknown: its new times do not fit.
    """
    store.lock_senders(connection)
    before = store.lock(connection, quiet_id)
    if before is None:
        raise QuietTimeNotFound
    if rules.state_at(before, now) in {QuietState.OVER, QuietState.ENDED}:
        raise QuietTimeOver
    begun = before.starts_at <= now
    if begun and changes.get("starts_at", before.starts_at) != before.starts_at:
        raise QuietTimesRefused("quiet_has_begun")
    wanted = rules.checked(_changed(before, changes), now)
    if not begun or (wanted.spans, wanted.time_zone) == (before.spans, before.time_zone):
        return store.write(connection, quiet_id, wanted)
    store.end(connection, now, quiet_id, by)
    return _inserted(connection, now, replace(wanted, starts_at=now), by)


def _changed(before: KeptQuietTime, changes: Mapping[str, Any]) -> WantedQuietTime:
    kept = WantedQuietTime(
        preset=before.preset,
        quiet=tuple(before.quiet),
        scope=before.scope,
        site=before.site,
        tag=before.tag,
        clients=tuple(before.clients),
        starts_at=before.starts_at,
        ends_at=before.ends_at,
        spans=before.spans,
        time_zone=before.time_zone,
        reason=before.reason,
    )
    if "reason" in changes:
        changes = {**changes, "reason": scrub(changes["reason"])}
    return replace(kept, **changes)


def find(connection: Connection, quiet_id: int) -> KeptQuietTime:
    """One quiet time. Raises QuietTimeNotFound."""
    if (found := store.get(connection, quiet_id)) is None:
        raise QuietTimeNotFound
    return found


def end(connection: Connection, now: datetime, quiet_id: int, by: str) -> bool:
    """End a quiet time for good. False when it had ended before. Raises QuietTimeNotFound."""
    if store.end(connection, now, quiet_id, by):
        return True
    find(connection, quiet_id)
    return False


def end_holds(connection: Connection, now: datetime, client_uuid: str, by: str) -> list[int]:
    """End the holds that name only this client. Returns their ids."""
    return store.end_holds(connection, now, client_uuid, by)


def lock_batch(connection: Connection) -> None:
    """Before a batch sends: wait for people who make something quiet, who wait for this transaction."""
    store.lock_batch(connection)


def now_quiet(connection: Connection, now: datetime, since: datetime | None = None) -> QuietNow:
    """What is quiet now; with `since` (the last look) also what is over since then. One query for the whole fleet."""
    return rules.now_quiet(store.begun(connection, now, since), now, since)


def covered(connection: Connection, found: QuietNow, what: Quiet, uuids: Collection[str]) -> dict[str, QuietOn]:
    """The quiet time that makes this quiet now for each of these clients: of several the one that ends last."""
    on = {one.time.id: one for one in found.on if what in one.time.quiet}
    last: dict[str, QuietOn] = {}
    for uuid, quiet_id in store.covered(connection, list(on), uuids) if on and uuids else ():
        if uuid not in last or last[uuid].order < on[quiet_id].order:
            last[uuid] = on[quiet_id]
    return last


def opened(connection: Connection, found: QuietNow, what: Quiet, uuids: Collection[str]) -> dict[str, datetime]:
    """When the shop of each of these clients opened, if that was a moment ago and this was quiet before."""
    at = found.opened_ids(what)
    latest: dict[str, datetime] = {}
    for uuid, quiet_id in store.covered(connection, list(at), uuids) if at and uuids else ():
        latest[uuid] = max(at[quiet_id], latest.get(uuid, at[quiet_id]))
    return latest


def woken(connection: Connection, found: QuietNow, what: Quiet, uuids: Collection[str]) -> set[str]:
    """Those of these clients for which this was quiet and is no more since the last look."""
    ids = found.woken_ids(what)
    return {uuid for uuid, _ in store.covered(connection, ids, uuids)} if ids and uuids else set()


def of_client(connection: Connection, now: datetime, client_uuid: str) -> list[QuietOn]:
    """Every quiet time that applies to this client now, the one that ends last first."""
    on = {one.time.id: one for one in now_quiet(connection, now).on}
    ids = {quiet_id for _, quiet_id in store.covered(connection, list(on), [client_uuid])} if on else set()
    return rules.last_first(on[quiet_id] for quiet_id in ids)


def coverage(connection: Connection, now: datetime, uuids: Collection[str]) -> set[tuple[str, int]]:
    """Of these clients and the quiet times that are on, the pairs where one covers the other."""
    on = [one.time.id for one in now_quiet(connection, now).on]
    return set(store.covered(connection, on, uuids)) if on and uuids else set()


def end_named_by(connection: Connection, now: datetime, maker: str, by: str) -> list[int]:
    """End the quiet times that name displays and were made by a person of chosen sites who is removed.

    Nobody would know any more at which sites they count. Returns their ids.
    """
    return store.end_named_by(connection, now, maker, by)


def of_fleet(connection: Connection, now: datetime) -> Sequence[QuietOn]:
    """Every quiet time that applies now, with the clients that it names and covers."""
    on = {one.time.id: one for one in now_quiet(connection, now).on}
    named = [quiet_id for quiet_id, one in on.items() if one.time.scope is QuietScope.CLIENTS]
    whole = {time.id: time for time in store.some(connection, named)} if named else {}
    reached = set(store.covered(connection, named, {uuid for time in whole.values() for uuid in time.clients}))
    for quiet_id, time in whole.items():
        whole[quiet_id] = replace(time, clients=[uuid for uuid in time.clients if (uuid, quiet_id) in reached])
    return [replace(one, time=whole.get(one.time.id, one.time)) for one in on.values()]
