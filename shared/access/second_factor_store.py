"""SQL of second factors and recovery codes."""

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.query import NO_ROW, Query


class SecondFactorRow(Struct, frozen=True):
    """A person's second factor; until `confirmed_at` is set, sign-in requires no code."""

    nonce: str
    confirmed_at: datetime | None
    last_step: int | None
    """The step of the last used code."""


@query.one_or_none("SELECT nonce, confirmed_at, last_step FROM second_factors WHERE user_id = :user_id FOR UPDATE")
def lock_of(connection: Connection, user_id: int) -> SecondFactorRow | None:
    """A person's second factor, confirmed or not, locked; None without one."""


@query.run(
    """
    INSERT INTO second_factors AS f (user_id, nonce, begun_at) VALUES (:user_id, :nonce, :now)
    ON CONFLICT (user_id) DO UPDATE SET nonce = EXCLUDED.nonce, begun_at = EXCLUDED.begun_at, last_step = NULL
    WHERE f.confirmed_at IS NULL
    """
)
def begin(connection: Connection, now: datetime, user_id: int, nonce: str) -> bool:
    """Store a new unconfirmed second factor in place of an unconfirmed one. False when one is confirmed."""


@query.run(
    """
    UPDATE second_factors SET last_step = :step
    WHERE user_id = :user_id AND (last_step IS NULL OR last_step < :step)
    """
)
def use_step(connection: Connection, user_id: int, step: int) -> bool:
    """Use a code up. False when this or a later step was used before."""


@query.run("UPDATE second_factors SET confirmed_at = :now WHERE user_id = :user_id")
def confirm(connection: Connection, now: datetime, user_id: int) -> None:
    """Mark the second factor as confirmed."""


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


@query.run("DELETE FROM recovery_codes WHERE user_id = :user_id AND code_hash = :code_hash")
def use_recovery_code(connection: Connection, user_id: int, code_hash: str) -> bool:
    """Use up a recovery code. True for one caller only, also of concurrent ones."""


@query.one("SELECT count(*) FROM recovery_codes WHERE user_id = :user_id")
def recovery_codes_left(connection: Connection, user_id: int) -> int:
    """How many recovery codes are unused."""
