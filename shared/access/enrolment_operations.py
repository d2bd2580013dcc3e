"""Use cases of enrolment: how a display gets, changes and loses its login at the broker."""

import secrets
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.access import enrolment_rules, enrolment_store
from shared.access.rules import MOSQUITTO_SALT_BYTES, digest, mosquitto_hash, mosquitto_matches, whole_seconds
from shared.clients import store as clients_store
from shared.errors import ClientDeleted, ClientNotFound, EnrolmentCodeInvalid, InvalidIdentity, TooManyAttempts
from shared.vocabulary import RegisteredBy

# The hash for displays without a login, so that the response time does not show whether a login exists.
_LOGIN_OF_NOBODY: Final = mosquitto_hash(secrets.token_urlsafe(), secrets.token_bytes(MOSQUITTO_SALT_BYTES))


class Login(Struct, frozen=True):
    """A display's login for the broker. The password is returned once and not stored."""

    client_uuid: str
    password: str


def issue_code(
    connection: Connection, now: datetime, client_uuid: str, created_by: str, lifetime: timedelta
) -> tuple[str, datetime]:
    """Make a one-time code for a client (registered if new), and its end. It replaces unused codes.

    Raises ClientDeleted: a deleted client's uuid stays a tombstone.
    """
    clients_store.register(connection, now, client_uuid, RegisteredBy.ENROLMENT)
    client = enrolment_store.lock_client(connection, client_uuid)
    if client is None or client.deleted_at is not None:
        raise ClientDeleted
    enrolment_store.delete_unused_codes(connection, client_uuid)
    code = enrolment_rules.compose_code(secrets.token_bytes(enrolment_rules.CODE_BYTES))
    enrolment_store.insert_code(
        connection, digest(enrolment_rules.normalise_code(code)), client_uuid, created_by, now, now + lifetime
    )
    return code, now + lifetime


def enrol(connection: Connection, now: datetime, code: str) -> Login:
    """Use the code up and return a new login. Of concurrent callers one wins. Raises EnrolmentCodeInvalid."""
    client_uuid = enrolment_store.burn_code(connection, digest(enrolment_rules.normalise_code(code)), now)
    if client_uuid is None:
        raise EnrolmentCodeInvalid
    password = secrets.token_urlsafe(enrolment_rules.DISPLAY_PASSWORD_BYTES)
    hashed = mosquitto_hash(password, secrets.token_bytes(MOSQUITTO_SALT_BYTES))
    enrolment_store.put_display_login(connection, client_uuid, hashed, now)
    clients_store.begin_login(connection, now, client_uuid)
    return Login(client_uuid, password)


def rotate(connection: Connection, now: datetime, client_uuid: str, current: str, new: str) -> bool:
    """Replace a display's current password by a new one.

    False: the new one is set already, because the display repeats a request whose answer was lost. Of concurrent
    requests with the same current password one wins. Raises InvalidIdentity, always with the same text and delay, and
    TooManyAttempts within a minute of the last change.
    """
    live = enrolment_store.live_login(connection, client_uuid)
    login = live.password_hash if live else None
    stored = login or _LOGIN_OF_NOBODY
    stands, is_right = mosquitto_matches(new, stored), mosquitto_matches(current, stored)
    if login is not None and stands:
        return False
    wait = enrolment_rules.wait_after_rotation(live.rotated_at, now) if live and is_right else None
    if wait is not None:
        raise TooManyAttempts("password_changed_lately", retry_after_seconds=whole_seconds(wait))
    hashed = mosquitto_hash(new, secrets.token_bytes(MOSQUITTO_SALT_BYTES))
    if (
        not is_right
        or login is None
        or not enrolment_store.replace_display_login(connection, client_uuid, login, hashed, now)
    ):
        raise InvalidIdentity("display_or_password_wrong")
    clients_store.begin_login(connection, now, client_uuid)
    return True


def check_login(connection: Connection, client_uuid: str, password: str) -> None:
    """Raises InvalidIdentity, always with the same words and as slowly, unless this is the display's live login."""
    live = enrolment_store.live_login(connection, client_uuid)
    if not mosquitto_matches(password, live.password_hash if live else _LOGIN_OF_NOBODY) or live is None:
        raise InvalidIdentity("display_or_password_wrong")


def revoke(connection: Connection, now: datetime, client_uuid: str) -> bool:
    """End a display's login and delete its unused codes. Returns whether it had a valid login.

    Raises ClientNotFound.
    """
    if enrolment_store.lock_client(connection, client_uuid) is None:
        raise ClientNotFound
    enrolment_store.delete_unused_codes(connection, client_uuid)
    had_login = enrolment_store.revoke_display_login(connection, client_uuid, now)
    if had_login:
        clients_store.begin_login(connection, now, client_uuid)
    return had_login
