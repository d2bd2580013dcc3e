"""SQL of second factors and recovery codes."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Row
from sqlalchemy.dialects.postgresql import insert

from shared.tables import recovery_codes, second_factors

AnyRow = Row[*tuple[Any, ...]]


def lock_of(connection: Connection, user_id: int) -> AnyRow | None:
    """Somebody's second factor, confirmed or not, locked; None when they have none."""
    statement = sa.select(second_factors).where(second_factors.c.user_id == user_id).with_for_update()
    return connection.execute(statement).first()


def begin(connection: Connection, now: datetime, user_id: int, nonce: str) -> bool:
    """Put a new one, to be confirmed, in the place of one that was not; False when there is a confirmed one."""
    new = insert(second_factors).values(user_id=user_id, nonce=nonce, begun_at=now)
    fresh = {"nonce": nonce, "begun_at": now, "last_step": None}
    statement = new.on_conflict_do_update(
        index_elements=["user_id"], set_=fresh, where=second_factors.c.confirmed_at.is_(None)
    )
    return connection.execute(statement).rowcount == 1


def use_step(connection: Connection, user_id: int, step: int) -> bool:
    """Use a code up; False when it, or a later one, was used."""
    unused = sa.or_(second_factors.c.last_step.is_(None), second_factors.c.last_step < step)
    mine = sa.update(second_factors).where(second_factors.c.user_id == user_id, unused)
    return connection.execute(mine.values(last_step=step)).rowcount == 1


def confirm(connection: Connection, now: datetime, user_id: int) -> None:
    """From now on it is asked for."""
    mine = sa.update(second_factors).where(second_factors.c.user_id == user_id)
    connection.execute(mine.values(confirmed_at=now))


def remove(connection: Connection, user_id: int) -> bool:
    """Forget somebody's second factor and recovery codes; False when they had none."""
    connection.execute(sa.delete(recovery_codes).where(recovery_codes.c.user_id == user_id))
    return connection.execute(sa.delete(second_factors).where(second_factors.c.user_id == user_id)).rowcount == 1


def put_recovery_codes(connection: Connection, user_id: int, hashes: Collection[str]) -> None:
    """Add these, in place of any that there were."""
    connection.execute(sa.delete(recovery_codes).where(recovery_codes.c.user_id == user_id))
    connection.execute(sa.insert(recovery_codes).values([{"user_id": user_id, "code_hash": one} for one in hashes]))


def use_recovery_code(connection: Connection, user_id: int, code_hash: str) -> bool:
    """Use one up; of many who try at once with the same one a single one is told True."""
    statement = sa.delete(recovery_codes).where(recovery_codes.c.user_id == user_id)
    return connection.execute(statement.where(recovery_codes.c.code_hash == code_hash)).rowcount == 1


def recovery_codes_left(connection: Connection, user_id: int) -> int:
    """How many nobody has used."""
    mine = sa.select(sa.func.count()).where(recovery_codes.c.user_id == user_id)
    return int(connection.execute(mine).scalar_one())
