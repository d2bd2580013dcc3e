"""What operators say to recovery: hold, resume, exclude, include. Each is said once, however often it is repeated.

Whoever says one of these waits until no tick recovers: after the answer nothing is sent that it forbids.
"""

from datetime import datetime

from sqlalchemy import Connection

from shared.clients import operations as clients
from shared.postgres.door import scrub
from shared.recovery import holds_rules, holds_store
from shared.recovery import store as recovery
from shared.recovery.holds_store import ExclusionRow


def hold(connection: Connection, now: datetime, client_uuid: str, by: str, reason: str, until: datetime | None) -> bool:
    """Leave this client alone until then, or (None) until somebody resumes; False when that stands already.

    Raises:
        ClientNotFound: there is no such client.
        Refused: `until` has passed.
    """
    holds_rules.check_until(until, now)
    _wait_for(connection, client_uuid)
    return holds_store.hold(connection, now, client_uuid, by, scrub(reason), until)


def resume(connection: Connection, client_uuid: str) -> bool:
    """End a hold or a suspension: the ladder begins anew; False when there is nothing to resume.

    A lockout stands: the display keeps its time to come back. Raises ClientNotFound.
    """
    _wait_for(connection, client_uuid)
    return holds_store.resume(connection, client_uuid)


def exclude(connection: Connection, now: datetime, client_uuid: str, by: str, reason: str) -> bool:
    """Never recover this client, until it is included again; False when that stands already. Raises ClientNotFound."""
    _wait_for(connection, client_uuid)
    return holds_store.exclude(connection, now, by, scrub(reason), client_uuid, None) is not None


def include(connection: Connection, client_uuid: str) -> bool:
    """Recover this client again; False when it was not excluded itself. Raises ClientNotFound."""
    _wait_for(connection, client_uuid)
    return holds_store.include(connection, client_uuid, None)


def exclude_site(connection: Connection, now: datetime, site: str, by: str, reason: str) -> tuple[ExclusionRow, bool]:
    """Never recover a client of this site, whichever stand there: the exclusion, and whether it is new."""
    recovery.lock_for_operator(connection)
    site = scrub(site)
    made = holds_store.exclude(connection, now, by, scrub(reason), None, site)
    standing = made or holds_store.exclusion(connection, None, site)
    if standing is None:  # taken back in between by somebody else: said again, it holds
        return exclude_site(connection, now, site, by, reason)
    return standing, made is not None


def include_site(connection: Connection, site: str) -> bool:
    """Recover the clients of this site again; False when it was not excluded."""
    recovery.lock_for_operator(connection)
    return holds_store.include(connection, None, scrub(site))


def _wait_for(connection: Connection, client_uuid: str) -> None:
    """Let no tick recover until this transaction ends. Raises ClientNotFound."""
    recovery.lock_for_operator(connection)
    clients.find(connection, client_uuid)
