"""Store the pictures that displays send, show them to people, and forbid them for a site."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from extensions.screenshots import rules, store
from extensions.screenshots.rules import Picture
from extensions.screenshots.store import StoredJpeg
from shared.commands import store as commands_store
from shared.commands.proofs_operations import record_picture
from shared.commands.rules import News
from shared.errors import ScreenshotNotFound, ScreenshotNotWanted
from shared.quiet import store as quiet_store
from shared.sites.pictures_operations import check_allowed


def store_asked(
    connection: Connection, now: datetime, client_uuid: str, command_id: str, age: timedelta, picture: Picture
) -> tuple[News, ...]:
    """Store the picture that a command requested, and end the command. Returns the news to publish after the commit.

    A repeat changes nothing. Raises ScreenshotsOff, and ScreenshotNotWanted if this client has no open command
    `screenshot` with that id, or if the picture is older than the command.
    """
    commands_store.lock_clients(connection, [client_uuid])
    check_allowed(connection, client_uuid)
    taken_at = rules.taken_at(now, age)
    if store.insert_asked(connection, now, client_uuid, command_id, taken_at, picture):
        store.prune(connection, client_uuid)
        return record_picture(connection, now, command_id)
    if not store.has_answer(connection, client_uuid, command_id):
        raise ScreenshotNotWanted
    return ()


def store_before_failure(
    connection: Connection, now: datetime, client_uuid: str, place: int, age: timedelta, picture: Picture
) -> None:
    """Store one of the last pictures before a failure; `place` 1 is the last.

    A repeat changes nothing. Raises ScreenshotsOff, and ScreenshotNotWanted if the client did not fail within the last
    half hour.
    """
    commands_store.lock_clients(connection, [client_uuid])
    check_allowed(connection, client_uuid)
    failure_at = store.failed_at(connection, client_uuid, now - rules.WANTED_AFTER_FAILURE)
    if failure_at is None:
        raise ScreenshotNotWanted
    store.insert_before_failure(connection, now, client_uuid, failure_at, place, rules.taken_at(now, age), picture)
    store.prune(connection, client_uuid)


def find_jpeg(connection: Connection, screenshot_id: int) -> StoredJpeg:
    """Read one picture. Raises ScreenshotNotFound, also if people may no longer see it."""
    found = store.jpeg(connection, screenshot_id)
    if found is None:
        raise ScreenshotNotFound
    return found


def allow(connection: Connection, now: datetime, site: str, by: str, *, allowed: bool) -> int:
    """Allow or forbid pictures of a site's screens, and delete the stored ones. Returns how many were deleted."""
    quiet_store.lock_batch(connection)  # who renames the site waits for this transaction
    if allowed:
        store.switch_on(connection, site)
    else:
        store.switch_off(connection, now, site, by)
    return store.drop_of_site(connection, site)
