"""Record the service failures that displays report, and end those that are over."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace
from sqlalchemy import Connection

from shared.clients import failures_rules, failures_store
from shared.clients.failures_rules import ServiceFailure


def record(connection: Connection, now: datetime, clock: float, failures: Sequence[ServiceFailure]) -> None:
    """Raise service failures from messages in order of arrival. `clock`: the bridge's monotonic clock, in seconds."""
    markers = failures_store.lock_failures(connection, sorted({failure.uuid for failure in failures}))
    raised: dict[str, ServiceFailure] = {}
    named: dict[str, ServiceFailure] = {}
    for failure in failures:
        marker = markers[failure.uuid]
        if failures_rules.is_raised(marker, failure):
            raised[failure.uuid] = failure
            named.pop(failure.uuid, None)
        elif not failure.by_topic and failures_rules.is_named(marker, failure):
            named[failure.uuid] = failure
        else:
            continue
        markers[failure.uuid] = replace(
            marker,
            unit=failure.unit,
            stamp=failure.stamp,
            unacknowledged=marker.unacknowledged | {failure.unit},
            mended=False,
        )
    if raised:
        failures_store.raise_failures(connection, now, clock, list(raised.values()))
    if named:
        failures_store.name_failures(connection, list(named.values()))


def end_mended(connection: Connection, now: datetime) -> int:
    """End the failures that a later health report no longer has. Returns how many.

    They stay on record until somebody acknowledges them. The rows are locked first, so that the second statement sees
    what a report wrote until then; a row that is locked elsewhere waits for the next call.
    """
    uuids = failures_store.lock_mended(connection)
    return failures_store.end_mended(connection, now, uuids) if uuids else 0
