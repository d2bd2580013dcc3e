"""Use cases of maintenance windows: people plan them; automatic senders check them.

They never hold back an operator's command: the person who works on a display needs it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.errors import ClientsUnknown, MaintenanceWindowNotFound
from shared.maintenance import rules, store
from shared.maintenance.rules import KeptWindow, PlannedWindow, QuietWindow, Schedule
from shared.vocabulary import MaintenanceScope, Weekday


@dataclass(frozen=True)
class NewWindow:
    """A window to plan. `site` is for scope `site`, `clients` for scope `clients`."""

    name: str
    reason: str
    scope: MaintenanceScope
    site: str | None
    clients: Collection[str]
    schedule: Schedule


def plan(connection: Connection, now: datetime, wanted: NewWindow, by: str) -> KeptWindow:
    """Store a window. One that began in the past is on from now.

    Raises:
        MaintenanceTimesRefused: its times are invalid.
        TimeZoneUnknown: there is no such time zone.
        ClientsUnknown: some of its clients do not exist.
    """
    schedule = rules.checked(wanted.schedule, now)
    recurrence = schedule.recurrence
    window = store.insert(
        connection,
        PlannedWindow(
            name=wanted.name,
            reason=wanted.reason,
            scope=wanted.scope,
            site=wanted.site,
            starts_at=schedule.starts_at,
            ends_at=schedule.ends_at,
            time_zone=recurrence.time_zone if recurrence else None,
            weekdays=[day for day in Weekday if day in recurrence.weekdays] if recurrence else None,
            repeat_until=recurrence.until if recurrence else None,
            last_ends_at=rules.last_end(schedule),
            created_by=by,
            created_at=now,
        ),
    )
    if wanted.scope is MaintenanceScope.CLIENTS:
        _name_clients(connection, window.id, set(wanted.clients))
    return window


def _name_clients(connection: Connection, window_id: int, uuids: set[str]) -> None:
    unknown = sorted(uuids - store.name_clients(connection, window_id, uuids))
    if unknown:
        raise ClientsUnknown(f"{len(unknown)} of these clients do not exist.", uuids=unknown[:100])


def end(connection: Connection, now: datetime, window_id: int, by: str) -> bool:
    """End a window for good. False when it had ended before.

    Raises:
        MaintenanceWindowNotFound: there is none with this id.
    """
    if store.end(connection, now, window_id, by):
        return True
    if store.get(connection, window_id) is None:
        raise MaintenanceWindowNotFound
    return False


def quiet_of(connection: Connection, now: datetime, uuids: Collection[str]) -> dict[str, QuietWindow]:
    """The window that covers each of these clients now: its reason, its author and its end.

    Of several windows the one that ends last counts. Needs one query, or two when a window is on.
    """
    on = {one.id: _quiet(one, at.ends_at) for one in store.begun(connection, now) if (at := _on(one, now))}
    if not on or not uuids:
        return {}
    found: dict[str, QuietWindow] = {}
    for uuid, window_id in store.covered(connection, list(on), uuids):
        if uuid not in found or found[uuid].until < on[window_id].until:
            found[uuid] = on[window_id]
    return found


def quiet_uuids(connection: Connection, now: datetime, uuids: Collection[str]) -> set[str]:
    """The clients among these that a window covers now."""
    return set(quiet_of(connection, now, uuids))


def is_fleet_quiet(connection: Connection, now: datetime) -> bool:
    """Whether a window of the whole fleet is on."""
    begun = store.begun(connection, now)
    return any(one.scope is MaintenanceScope.FLEET and _on(one, now) is not None for one in begun)


def on_now(connection: Connection, now: datetime) -> list[int]:
    """The ids of the windows that are on, in order."""
    return [one.id for one in store.begun(connection, now) if _on(one, now) is not None]


def _on(window: KeptWindow, now: datetime) -> rules.WindowTime | None:
    return rules.occurrence_at(window.schedule, now)


def _quiet(window: KeptWindow, until: datetime) -> QuietWindow:
    return QuietWindow(window.id, window.name, window.reason, window.created_by, until)
