"""Orders of operators to recovery: hold, resume, exclude, include. Repeating an order changes nothing.

Each order waits until no tick recovers. So after its answer recovery sends nothing that the order forbids.
"""

from datetime import datetime

from sqlalchemy import Connection

from shared.clients import operations as clients
from shared.postgres.door import scrub
from shared.recovery import holds_rules, holds_store
from shared.recovery import store as recovery_store
from shared.recovery.holds_store import ExclusionRow


def hold(connection: Connection, now: datetime, client_uuid: str, by: str, reason: str, until: datetime | None) -> bool:
    """Hold recovery from this client until `until`, or (None) until a person resumes. False when this hold stands.

    Raises:
        ClientNotFound: there is no such client.
        Refused: `until` has passed.
    """
    holds_rules.check_until(until, now)
    _wait_for(connection, client_uuid)
    return holds_store.hold(connection, now, client_uuid, by, scrub(reason), until)


def resume(connection: Connection, client_uuid: str) -> bool:
    """End a hold or a suspension, and reset the ladder; False when there is nothing to resume.

    A lockout stays, so that the display has time to come back. Raises ClientNotFound.
    """
    _wait_for(connection, client_uuid)
    return holds_store.resume(connection, client_uuid)


def exclude(connection: Connection, now: datetime, client_uuid: str, by: str, reason: str) -> bool:
    """Exclude this client until it is included again; False when it is excluded already. Raises ClientNotFound."""
    _wait_for(connection, client_uuid)
    return holds_store.exclude(connection, now, by, scrub(reason), client_uuid, None) is not None


def include(connection: Connection, client_uuid: str) -> bool:
    """End this client's own exclusion; False when it has none. Raises ClientNotFound."""
    _wait_for(connection, client_uuid)
    return holds_store.include(connection, client_uuid, None)


def exclude_site(connection: Connection, now: datetime, site: str, by: str, reason: str) -> tuple[ExclusionRow, bool]:
    """Exclude all present and future clients of this site. Returns the exclusion, and whether it is new."""
    recovery_store.lock_for_operator(connection)
    site = scrub(site)
    made = holds_store.exclude(connection, now, by, scrub(reason), None, site)
    standing = made or holds_store.exclusion(connection, None, site)
    if standing is None:  # another operator included the site in between: retry
        return exclude_site(connection, now, site, by, reason)
    return standing, made is not None


def include_site(connection: Connection, site: str) -> bool:
    """End this site's exclusion; False when it has none."""
    recovery_store.lock_for_operator(connection)
    return holds_store.include(connection, None, scrub(site))


def _wait_for(connection: Connection, client_uuid: str) -> None:
    """Lock recovery until this transaction ends, and find the client. Raises ClientNotFound."""
    recovery_store.lock_for_operator(connection)
    clients.find(connection, client_uuid)
