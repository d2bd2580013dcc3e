"""Use cases of enrolment: how a display gets, changes and loses its login at the broker."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from shared.access import enrolment_rules, enrolment_store
from shared.access.rules import MOSQUITTO_SALT_BYTES, digest, mosquitto_hash, mosquitto_matches, whole_seconds
from shared.clients import store as clients
from shared.errors import ClientDeleted, ClientNotFound, EnrolmentCodeInvalid, InvalidIdentity, TooManyAttempts
from shared.vocabulary import RegisteredBy

# What the passwords of a display without a login are held against, so that the time taken says nothing.
_LOGIN_OF_NOBODY: Final = mosquitto_hash(secrets.token_urlsafe(), secrets.token_bytes(MOSQUITTO_SALT_BYTES))


@dataclass(frozen=True)
class Login:
    """What a display signs in to the broker with; the password is told once and not kept."""

    client_uuid: str
    password: str


def issue_code(
    connection: Connection, now: datetime, client_uuid: str, created_by: str, lifetime: timedelta
) -> tuple[str, datetime]:
    """A one-time code for a client, registered if new, and when it ends. It replaces codes not yet used.

    Raises ClientDeleted: a deleted client's uuid stays a tombstone.
    """
    clients.register(connection, now, client_uuid, RegisteredBy.ENROLMENT)
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
    """Burn the code and give its display a new login. Raises EnrolmentCodeInvalid; of many callers one wins."""
    client_uuid = enrolment_store.burn_code(connection, digest(enrolment_rules.normalise_code(code)), now)
    if client_uuid is None:
        raise EnrolmentCodeInvalid
    password = secrets.token_urlsafe(enrolment_rules.DISPLAY_PASSWORD_BYTES)
    hashed = mosquitto_hash(password, secrets.token_bytes(MOSQUITTO_SALT_BYTES))
    enrolment_store.put_display_login(connection, client_uuid, hashed, now)
    return Login(client_uuid, password)


def rotate(connection: Connection, now: datetime, client_uuid: str, current: str, new: str) -> bool:
    """Put a display's new password in the place of its current one.

    False where the new one stands already: an answer was lost, and the display asks again. Of many at once with the
    same current password one wins. Raises InvalidIdentity, always with the same words and as slowly, and
    TooManyAttempts: it did so less than a minute ago.
    """
    live = enrolment_store.live_login(connection, client_uuid)
    login = live.password_hash if live else None
    stored = login or _LOGIN_OF_NOBODY
    stands, is_right = mosquitto_matches(new, stored), mosquitto_matches(current, stored)
    if login is not None and stands:
        return False
    wait = enrolment_rules.wait_after_rotation(live.rotated_at, now) if live and is_right else None
    if wait is not None:
        raise TooManyAttempts(
            "A display changes its password once a minute at most.", retry_after_seconds=whole_seconds(wait)
        )
    hashed = mosquitto_hash(new, secrets.token_bytes(MOSQUITTO_SALT_BYTES))
    if (
        not is_right
        or login is None
        or not enrolment_store.replace_display_login(connection, client_uuid, login, hashed, now)
    ):
        raise InvalidIdentity("The display or its password is wrong.")
    return True


def revoke(connection: Connection, now: datetime, client_uuid: str) -> bool:
    """End a display's login and withdraw its unused codes; says whether there was a live login.

    Raises ClientNotFound.
    """
    if enrolment_store.lock_client(connection, client_uuid) is None:
        raise ClientNotFound
    enrolment_store.delete_unused_codes(connection, client_uuid)
    return enrolment_store.revoke_display_login(connection, client_uuid, now)
