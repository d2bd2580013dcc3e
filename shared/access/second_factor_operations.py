"""Use cases of the second factor: set up, confirm, prove, remove."""

import secrets
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.access import second_factor_rules, second_factor_store
from shared.access.people.rules import ONE_TIME_ALPHABET, one_time_password
from shared.access.second_factor_rules import SecondFactorProof
from shared.errors import Refused, SecondFactorStands, SecondFactorUnknown


class State(Struct, frozen=True):
    """A person's view of the own second factor."""

    since: datetime | None
    """When it was confirmed; None: sign-in requires no code."""
    recovery_codes_left: int


def state(connection: Connection, user_id: int) -> State:
    """Whether sign-in requires a code."""
    factor = second_factor_store.lock_of(connection, user_id)
    since = factor.confirmed_at if factor is not None else None
    return State(since, second_factor_store.recovery_codes_left(connection, user_id) if since else 0)


def begin(connection: Connection, now: datetime, user_id: int, key: str | None) -> bytes:
    """A new secret, to show once; a code confirms it. Raises SecondFactorStands, Refused."""
    if key is None:
        raise Refused("signing_key_missing")
    nonce = secrets.token_hex(second_factor_rules.NONCE_BYTES)
    if not second_factor_store.begin(connection, now, user_id, nonce):
        raise SecondFactorStands
    return second_factor_rules.secret_of(key, nonce)


def confirm(connection: Connection, now: datetime, user_id: int, code: str, key: str | None) -> list[str] | None:
    """Switch the second factor on if the code is right. Returns the recovery codes; None for a wrong code.

    Raises:
        SecondFactorUnknown: no secret was made.
        SecondFactorStands: it was confirmed already.
    """
    factor = second_factor_store.lock_of(connection, user_id)
    if factor is None or key is None:
        raise SecondFactorUnknown
    if factor.confirmed_at is not None:
        raise SecondFactorStands
    step = second_factor_rules.step_of(second_factor_rules.secret_of(key, factor.nonce), code, now, factor.last_step)
    if step is None or not second_factor_store.use_step(connection, user_id, step):
        return None
    second_factor_store.confirm(connection, now, user_id)
    codes = [_recovery_code() for _ in range(second_factor_rules.RECOVERY_CODES)]
    second_factor_store.put_recovery_codes(
        connection, user_id, [second_factor_rules.hash_of_recovery_code(one) for one in codes]
    )
    return codes


def prove(connection: Connection, now: datetime, user_id: int, code: str | None, key: str | None) -> SecondFactorProof:
    """Check the code of a person whose password was right. A right code is used up."""
    factor = second_factor_store.lock_of(connection, user_id)
    if factor is None or factor.confirmed_at is None:
        return SecondFactorProof.NOT_NEEDED
    if not code:
        return SecondFactorProof.MISSING
    if second_factor_store.use_recovery_code(connection, user_id, second_factor_rules.hash_of_recovery_code(code)):
        return SecondFactorProof.RECOVERY_CODE
    step = (
        None
        if key is None
        else second_factor_rules.step_of(second_factor_rules.secret_of(key, factor.nonce), code, now, factor.last_step)
    )
    return (
        SecondFactorProof.APP
        if step is not None and second_factor_store.use_step(connection, user_id, step)
        else SecondFactorProof.WRONG
    )


def remove(connection: Connection, user_id: int) -> None:
    """Remove the second factor. Raises SecondFactorUnknown."""
    if not second_factor_store.remove(connection, user_id):
        raise SecondFactorUnknown


def _recovery_code() -> str:
    return one_time_password(
        "".join(secrets.choice(ONE_TIME_ALPHABET) for _ in range(second_factor_rules.RECOVERY_LETTERS))
    )
