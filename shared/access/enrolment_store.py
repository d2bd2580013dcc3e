"""SQL of enrolment: one-time codes and displays' logins."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.fragments import MAKERS, is_at_site_of, made
from shared.postgres.query import NO_ROW, Query


class ClientToEnrol(Struct, frozen=True):
    """A client, deleted or not."""

    uuid: str
    deleted_at: datetime | None


class DisplayLogin(Struct, frozen=True):
    """A valid login of a display; `rotated_at`: when the display last changed its password."""

    client_uuid: str
    password_hash: str
    rotated_at: datetime | None


@query.one_or_none("SELECT uuid, deleted_at FROM clients WHERE uuid = :client_uuid FOR NO KEY UPDATE")
def lock_client(connection: Connection, client_uuid: str) -> ClientToEnrol | None:
    """The client, locked until the transaction ends; None when unknown."""


@query.run(
    """
    INSERT INTO enrolment_codes (code_hash, client_uuid, created_by, created_at, expires_at)
    VALUES (:code_hash, :client_uuid, :created_by, :created_at, :expires_at)
    """
)
def insert_code(
    connection: Connection,
    code_hash: str,
    client_uuid: str,
    created_by: str,
    created_at: datetime,
    expires_at: datetime,
) -> None:
    """Add an enrolment code of a client."""


@query.run("DELETE FROM enrolment_codes WHERE client_uuid = :client_uuid AND used_at IS NULL")
def delete_unused_codes(connection: Connection, client_uuid: str) -> int:
    """Delete a client's unused codes. Returns how many."""


@query.one_or_none(
    f"""
    UPDATE enrolment_codes AS e SET used_at = :now FROM clients AS c
    WHERE e.code_hash = :code_hash AND e.used_at IS NULL AND e.expires_at > :now
        AND c.uuid = e.client_uuid AND c.deleted_at IS NULL
        AND EXISTS (SELECT FROM {MAKERS} AS maker WHERE {made("maker", "e.created_by", "e.created_at")}
            AND maker.is_live AND maker.role = 'admin' AND {is_at_site_of("maker", "c")})
    RETURNING e.client_uuid
    """
)
def burn_code(connection: Connection, code_hash: str, now: datetime) -> str | None:
    """Use a code up and return its client's uuid.

    None when the code is unknown, used or expired, its client is deleted, or its issuer is no admin of that site today.

    Of concurrent callers with the same code one gets the uuid; the row lock makes the others see used_at.
    """


@query.run(
    """
    INSERT INTO display_logins (client_uuid, password_hash, created_at) VALUES (:client_uuid, :password_hash, :now)
    ON CONFLICT (client_uuid) DO UPDATE SET password_hash = EXCLUDED.password_hash,
        created_at = EXCLUDED.created_at, revoked_at = NULL, rotated_at = NULL
    """
)
def put_display_login(connection: Connection, client_uuid: str, password_hash: str, now: datetime) -> None:
    """Give a display its login, in place of any it had."""


LIVE: Final = """
    FROM display_logins AS l JOIN clients AS c ON c.uuid = l.client_uuid
    WHERE l.revoked_at IS NULL AND c.deleted_at IS NULL"""
"""SQL: the valid logins."""


@query.one_or_none(f"SELECT l.client_uuid, l.password_hash, l.rotated_at {LIVE} AND l.client_uuid = :client_uuid")
def live_login(connection: Connection, client_uuid: str) -> DisplayLogin | None:
    """A display's valid login; None without one."""


REPLACE_DISPLAY_LOGIN = Query(
    """
    UPDATE display_logins AS l SET password_hash = :new_hash, created_at = :now, rotated_at = :now FROM clients AS c
    WHERE l.client_uuid = :client_uuid AND l.password_hash = :old_hash AND l.revoked_at IS NULL
        AND c.uuid = l.client_uuid AND c.deleted_at IS NULL
    """,
    NO_ROW,
)


def replace_display_login(
    connection: Connection, client_uuid: str, old_hash: str, new_hash: str, now: datetime
) -> bool:
    """Replace the password of a valid login. False when `old_hash` is not the stored one."""
    values = {"client_uuid": client_uuid, "old_hash": old_hash, "new_hash": new_hash, "now": now}
    return REPLACE_DISPLAY_LOGIN.run(connection, **values) == 1


@query.run("UPDATE display_logins SET revoked_at = :now WHERE client_uuid = :client_uuid AND revoked_at IS NULL")
def revoke_display_login(connection: Connection, client_uuid: str, now: datetime) -> bool:
    """End a display's login. False when it has no valid one."""


@query.rows(f"SELECT l.client_uuid, l.password_hash, l.rotated_at {LIVE} ORDER BY l.client_uuid")
def live_logins(connection: Connection) -> list[DisplayLogin]:
    """All valid logins, in the order of the uuids."""


@query.one(
    f"""
    SELECT concat(count(*), '-', bit_xor(hashtextextended(l.client_uuid || l.password_hash, 0))) {LIVE}
    """
)
def live_logins_digest(connection: Connection) -> str:
    """A digest of all valid logins, computed by Postgres; it changes with each of them."""


@query.rows(
    """
    SELECT l.client_uuid FROM display_logins AS l JOIN clients AS c ON c.uuid = l.client_uuid
    WHERE l.revoked_at > now() - CAST(:within AS interval) OR c.deleted_at > now() - CAST(:within AS interval)
    ORDER BY l.client_uuid
    """
)
def ended_logins(connection: Connection, within: timedelta) -> list[str]:
    """The displays whose logins were taken back, or that were deleted, within this time."""
