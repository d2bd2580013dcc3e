"""Whether people may see a client's screen."""

from sqlalchemy import Connection

from shared.errors import ClientNotFound, ScreenshotsOff
from shared.sites import pictures_store


def check_allowed(connection: Connection, client_uuid: str) -> None:
    """Check that people may see this client's screen. Raises ScreenshotsOff or ClientNotFound."""
    allowed = pictures_store.is_allowed(connection, client_uuid)
    if allowed is None:
        raise ClientNotFound
    if not allowed:
        raise ScreenshotsOff
