"""SQL of people's accounts."""

from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, Row
from sqlalchemy.dialects.postgresql import insert

from shared.tables import second_factors, user_sessions, users
from shared.vocabulary import Role

AnyRow = Row[*tuple[Any, ...]]
_ONE_TIME_UNTIL: Final = sa.case((users.c.must_change_password, users.c.one_time_until))
"""Code of before one-time passwords clears must_change_password alone: what it leaves of the other means nothing."""
SHOWN: Final = (
    users.c.id,
    users.c.username,
    users.c.role,
    users.c.must_change_password,
    users.c.created_at,
    users.c.last_sign_in_at,
    _ONE_TIME_UNTIL.label("one_time_until"),
    users.c.disabled_at,
    sa.exists()
    .where(second_factors.c.user_id == users.c.id, second_factors.c.confirmed_at.is_not(None))
    .correlate(users)
    .label("second_factor"),
)
"""What a list of people shows."""
_ACCEPTED: Final = sa.and_(
    users.c.disabled_at.is_(None), sa.or_(_ONE_TIME_UNTIL.is_(None), sa.func.now() < _ONE_TIME_UNTIL)
)
"""Whose password opens anything."""


# --- who there is ---


def lock_users(connection: Connection) -> None:
    """Until the transaction ends nobody else adds a user."""
    connection.execute(sa.text("LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE"))  # Core has no LOCK


def any_user(connection: Connection) -> bool:
    """Whether there is any user, disabled or not."""
    return bool(connection.execute(sa.select(sa.exists(sa.select(users.c.id)))).scalar_one())


def is_taken(connection: Connection, username: str) -> bool:
    """Whether somebody has this name, in whatever capitals, disabled or not."""
    alike = sa.select(users.c.id).where(sa.func.lower(users.c.username) == sa.func.lower(username))
    return bool(connection.execute(sa.select(sa.exists(alike))).scalar_one())


def insert_user(
    connection: Connection,
    now: datetime,
    username: str,
    password_hash: str,
    role: Role,
    must_change_password: bool,
    one_time_until: datetime | None = None,
) -> AnyRow | None:
    """Add a user and answer them as SHOWN; None when the name is taken."""
    statement = insert(users).values(
        username=username,
        password_hash=password_hash,
        role=role.value,
        must_change_password=must_change_password,
        one_time_until=one_time_until,
        created_at=now,
    )
    return connection.execute(statement.on_conflict_do_nothing(index_elements=["username"]).returning(*SHOWN)).first()


def page(connection: Connection, limit: int, after: str | None) -> list[AnyRow]:
    """People by name as SHOWN, past the name `after`."""
    statement = sa.select(*SHOWN).order_by(users.c.username)
    if after is not None:
        statement = statement.where(users.c.username > after)
    return list(connection.execute(statement.limit(limit)))


# --- signing in ---


def user_by_name(connection: Connection, username: str) -> AnyRow | None:
    """The user of this name whose password opens anything: SHOWN and password_hash."""
    statement = sa.select(*SHOWN, users.c.password_hash).where(users.c.username == username, _ACCEPTED)
    return connection.execute(statement).first()


def user_by_email(connection: Connection, email: str) -> AnyRow | None:
    """The user whose name is this e-mail address, in whatever capitals, unless disabled: SHOWN."""
    mine = sa.func.lower(users.c.username) == sa.func.lower(email)
    return connection.execute(sa.select(*SHOWN).where(mine, users.c.disabled_at.is_(None))).first()


def note_sign_in(connection: Connection, now: datetime, user_id: int, password_hash: str) -> AnyRow | None:
    """Set last_sign_in_at and answer the user as SHOWN; None when the password of that hash opens nothing any more.

    The row stays locked, so that whoever ends this user's sessions either does so first or sees the new one.
    """
    statement = (
        sa.update(users)
        .where(users.c.id == user_id, users.c.password_hash == password_hash, _ACCEPTED)
        .values(last_sign_in_at=now)
    )
    return connection.execute(statement.returning(*SHOWN)).first()


def replace_password(connection: Connection, user_id: int, old_hash: str, new_hash: str) -> bool:
    """Set a user's own password if it is still the one of `old_hash`; says whether it was."""
    statement = (
        sa.update(users)
        .where(users.c.id == user_id, users.c.password_hash == old_hash, users.c.disabled_at.is_(None))
        .values(password_hash=new_hash, must_change_password=False, one_time_until=None)
    )
    return connection.execute(statement).rowcount == 1


# --- changing somebody's account: `lock_keyholders` first, always ---


def lock_keyholders(connection: Connection, *, by_proxy: bool = False) -> set[int]:
    """Lock and answer the admins who can come in: not disabled, and with a password of their own.

    Where a proxy says who people are (`by_proxy`) nobody needs a password. Two who change accounts wait for each
    other here, and the second one sees what the first one did.
    """
    admins = sa.and_(users.c.role == Role.ADMIN.value, users.c.disabled_at.is_(None))
    can_come_in = admins if by_proxy else sa.and_(admins, _ONE_TIME_UNTIL.is_(None))
    statement = sa.select(users.c.id).where(can_come_in).order_by(users.c.id).with_for_update()
    return set(connection.execute(statement).scalars())


def lock_user(connection: Connection, user_id: int) -> AnyRow | None:
    """Somebody as SHOWN, locked; None when there is nobody with this id."""
    return connection.execute(sa.select(*SHOWN).where(users.c.id == user_id).with_for_update()).first()


def change(connection: Connection, user_id: int, role: Role, disabled_at: datetime | None) -> AnyRow:
    """Write role and disabled_at; the user as SHOWN."""
    statement = sa.update(users).where(users.c.id == user_id).values(role=role.value, disabled_at=disabled_at)
    return connection.execute(statement.returning(*SHOWN)).one()


def hand_over(connection: Connection, user_id: int, password_hash: str, until: datetime) -> AnyRow:
    """Set a password that signs in until then, to be changed at once; the user as SHOWN."""
    statement = (
        sa.update(users)
        .where(users.c.id == user_id)
        .values(password_hash=password_hash, must_change_password=True, one_time_until=until)
    )
    return connection.execute(statement.returning(*SHOWN)).one()


def end_sessions(connection: Connection, user_id: int, now: datetime) -> int:
    """End every session of a user; says how many."""
    statement = (
        sa.update(user_sessions)
        .where(user_sessions.c.user_id == user_id, user_sessions.c.revoked_at.is_(None))
        .values(revoked_at=now)
    )
    return connection.execute(statement).rowcount


def delete_sessions(connection: Connection, user_id: int) -> None:
    """Forget every session of a user."""
    connection.execute(sa.delete(user_sessions).where(user_sessions.c.user_id == user_id))


def delete(connection: Connection, user_id: int) -> None:
    """Forget a user who has no sessions."""
    connection.execute(sa.delete(users).where(users.c.id == user_id))
