"""SQL of enrolment: the one-time codes and the logins that the broker lets in."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Row
from sqlalchemy.dialects.postgresql import insert

from shared.tables import clients, display_logins, enrolment_codes

AnyRow = Row[*tuple[Any, ...]]


def lock_client(connection: Connection, client_uuid: str) -> AnyRow | None:
    """The client's uuid and deleted_at, locked until the transaction ends; None when unknown."""
    return connection.execute(
        sa.select(clients.c.uuid, clients.c.deleted_at)
        .where(clients.c.uuid == client_uuid)
        .with_for_update(key_share=True)
    ).first()


def insert_code(
    connection: Connection,
    code_hash: str,
    client_uuid: str,
    created_by: str,
    created_at: datetime,
    expires_at: datetime,
) -> None:
    """Add an enrolment code of a client."""
    connection.execute(
        sa.insert(enrolment_codes).values(
            code_hash=code_hash,
            client_uuid=client_uuid,
            created_by=created_by,
            created_at=created_at,
            expires_at=expires_at,
        )
    )


def delete_unused_codes(connection: Connection, client_uuid: str) -> int:
    """Withdraw a client's codes that nobody has used; says how many."""
    statement = sa.delete(enrolment_codes).where(
        enrolment_codes.c.client_uuid == client_uuid, enrolment_codes.c.used_at.is_(None)
    )
    return connection.execute(statement).rowcount


def burn_code(connection: Connection, code_hash: str, now: datetime) -> str | None:
    """Use a code up and answer its client's uuid; None when it is unknown, used or expired, or the client deleted.

    Of any number of callers with the same code one gets the uuid: the row lock makes the others see used_at.
    """
    statement = (
        sa.update(enrolment_codes)
        .where(enrolment_codes.c.code_hash == code_hash, enrolment_codes.c.used_at.is_(None))
        .where(enrolment_codes.c.expires_at > now)
        .where(clients.c.uuid == enrolment_codes.c.client_uuid, clients.c.deleted_at.is_(None))
        .values(used_at=now)
        .returning(enrolment_codes.c.client_uuid)
    )
    return connection.execute(statement).scalar_one_or_none()


def put_display_login(connection: Connection, client_uuid: str, password_hash: str, now: datetime) -> None:
    """Give a display its login, in place of any it had."""
    statement = insert(display_logins).values(client_uuid=client_uuid, password_hash=password_hash, created_at=now)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["client_uuid"],
            set_={"password_hash": password_hash, "created_at": now, "revoked_at": None, "rotated_at": None},
        )
    )


def live_login(connection: Connection, client_uuid: str) -> AnyRow | None:
    """password_hash and rotated_at of a display's login; None when it has none that is live."""
    query = _live(display_logins.c.password_hash, display_logins.c.rotated_at)
    return connection.execute(query.where(display_logins.c.client_uuid == client_uuid)).one_or_none()


def replace_display_login(
    connection: Connection, client_uuid: str, old_hash: str, new_hash: str, now: datetime
) -> bool:
    """Give a display that may log in another password; False when the old hash is not its own any more."""
    statement = (
        sa.update(display_logins)
        .where(display_logins.c.client_uuid == client_uuid, display_logins.c.password_hash == old_hash)
        .where(display_logins.c.revoked_at.is_(None))
        .where(clients.c.uuid == display_logins.c.client_uuid, clients.c.deleted_at.is_(None))
        .values(password_hash=new_hash, created_at=now, rotated_at=now)
    )
    return connection.execute(statement).rowcount == 1


def revoke_display_login(connection: Connection, client_uuid: str, now: datetime) -> bool:
    """End a display's login; False when it has none that is live."""
    statement = (
        sa.update(display_logins)
        .where(display_logins.c.client_uuid == client_uuid, display_logins.c.revoked_at.is_(None))
        .values(revoked_at=now)
    )
    return connection.execute(statement).rowcount == 1


def live_logins(connection: Connection) -> list[tuple[str, str]]:
    """(uuid, password hash) of every display that may log in, by uuid."""
    query = _live(display_logins.c.client_uuid, display_logins.c.password_hash)
    return [(row.client_uuid, row.password_hash) for row in connection.execute(query)]


def live_logins_digest(connection: Connection) -> str:
    """A text that is another one as soon as any of the live logins is, made where the data are."""
    each = sa.func.hashtextextended(display_logins.c.client_uuid + display_logins.c.password_hash, 0)
    digest = sa.func.concat(sa.func.count(), "-", sa.func.bit_xor(each))
    return str(connection.execute(_live(digest).order_by(None)).scalar_one())


def _live(*columns: Any) -> sa.Select[Any]:
    joined = display_logins.join(clients, clients.c.uuid == display_logins.c.client_uuid)
    live = (display_logins.c.revoked_at.is_(None), clients.c.deleted_at.is_(None))
    return sa.select(*columns).select_from(joined).where(*live).order_by(display_logins.c.client_uuid)
