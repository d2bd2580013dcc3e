"""SQL of second factors and recovery codes."""

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres.query import NO_ROW, Query


class SecondFactorRow(Struct, frozen=True):
    """A person's second factor; until `confirmed_at` is set, sign-in requires no code."""

    nonce: str
    confirmed_at: datetime | None
    last_step: int | None
    """The step of the last used code."""


LOCK_OF = Query(
    "SELECT nonce, confirmed_at, last_step FROM second_factors WHERE user_id = :user_id FOR UPDATE", SecondFactorRow
)


def lock_of(connection: Connection, user_id: int) -> SecondFactorRow | None:
    """A person's second factor, confirmed or not, locked; None without one."""
    return LOCK_OF.one_or_none(connection, user_id=user_id)


BEGIN = Query(
    """
    INSERT INTO second_factors AS f (user_id, nonce, begun_at) VALUES (:user_id, :nonce, :now)
    ON CONFLICT (user_id) DO UPDATE SET nonce = EXCLUDED.nonce, begun_at = EXCLUDED.begun_at, last_step = NULL
    WHERE f.confirmed_at IS NULL
    """,
    NO_ROW,
)


def begin(connection: Connection, now: datetime, user_id: int, nonce: str) -> bool:
    """Store a new unconfirmed second factor in place of an unconfirmed one. False when one is confirmed."""
    return BEGIN.run(connection, now=now, user_id=user_id, nonce=nonce) == 1


USE_STEP = Query(
    """
    UPDATE second_factors SET last_step = :step
    WHERE user_id = :user_id AND (last_step IS NULL OR last_step < :step)
    """,
    NO_ROW,
)


def use_step(connection: Connection, user_id: int, step: int) -> bool:
    """Use a code up. False when this or a later step was used before."""
    return USE_STEP.run(connection, user_id=user_id, step=step) == 1


CONFIRM = Query("UPDATE second_factors SET confirmed_at = :now WHERE user_id = :user_id", NO_ROW)


def confirm(connection: Connection, now: datetime, user_id: int) -> None:
    """Mark the second factor as confirmed."""
    CONFIRM.run(connection, now=now, user_id=user_id)


REMOVE = Query("DELETE FROM second_factors WHERE user_id = :user_id", NO_ROW)
REMOVE_RECOVERY_CODES = Query("DELETE FROM recovery_codes WHERE user_id = :user_id", NO_ROW)


def remove(connection: Connection, user_id: int) -> bool:
    """Delete a person's second factor and recovery codes. False without one."""
    REMOVE_RECOVERY_CODES.run(connection, user_id=user_id)
    return REMOVE.run(connection, user_id=user_id) == 1


PUT_RECOVERY_CODES = Query(
    "INSERT INTO recovery_codes (user_id, code_hash) SELECT :user_id, unnest(CAST(:hashes AS text[]))", NO_ROW
)


def put_recovery_codes(connection: Connection, user_id: int, hashes: Collection[str]) -> None:
    """Store these recovery codes in place of older ones."""
    REMOVE_RECOVERY_CODES.run(connection, user_id=user_id)
    PUT_RECOVERY_CODES.run(connection, user_id=user_id, hashes=list(hashes))


USE_RECOVERY_CODE = Query("DELETE FROM recovery_codes WHERE user_id = :user_id AND code_hash = :code_hash", NO_ROW)


def use_recovery_code(connection: Connection, user_id: int, code_hash: str) -> bool:
    """Use up a recovery code. True for one caller only, also of concurrent ones."""
    return USE_RECOVERY_CODE.run(connection, user_id=user_id, code_hash=code_hash) == 1


RECOVERY_CODES_LEFT = Query("SELECT count(*) FROM recovery_codes WHERE user_id = :user_id", int)


def recovery_codes_left(connection: Connection, user_id: int) -> int:
    """How many recovery codes are unused."""
    return RECOVERY_CODES_LEFT.one(connection, user_id=user_id)
