"""Check a person's password, and the code of their second factor.

The password is hashed between two transactions. Both check the limit on failed tries, under a lock. So parallel tries
cannot exceed the limit, and beyond it a right guess gets the same answer as a wrong one.
"""

from datetime import datetime

from sqlalchemy import Connection

from functions.api.routing import Call
from functions.api.turns import PEOPLE, STRANGERS
from shared.access import operations as access
from shared.access import second_factor_operations
from shared.access.people.store import PersonWithPassword
from shared.access.rules import AuditLine, Counter, network_of, own_password_counters, sign_in_counters
from shared.access.second_factor_rules import SecondFactorProof
from shared.errors import InvalidIdentity, Refused, SecondFactorRequired, SecondFactorWrong
from shared.postgres import door


def check_sign_in(
    call: Call, username: str, password: str, code: str | None
) -> tuple[PersonWithPassword, SecondFactorProof]:
    """The user who signs in, and how they proved their second factor.

    Raises InvalidIdentity, SecondFactorRequired, SecondFactorWrong or TooManyAttempts. A wrong password or code counts
    as a failed try. Raises TooManyRequests or Busy when there is no turn: strangers take none from people who come from
    where they signed in lately.
    """
    with door.reading(call.services.engine) as connection:
        now = door.database_now(connection)
        is_known = access.is_known_address(connection, now, username, call.address)
    counters = sign_in_counters(username, call.address, is_known=is_known)
    with (PEOPLE if is_known else STRANGERS).turn(network_of(call.address)):
        return _check(call, username, password, "session.create", counters, code, asks_code=True)


def check_own_password(call: Call, password: str, action: str) -> PersonWithPassword:
    """Check the caller's own password. Returns the caller.

    Raises InvalidIdentity (and counts the try), TooManyAttempts, or Refused when the caller did not sign in with a
    password.
    """
    _check_by_password(call)
    return _check(call, call.principal.name, password, action, own_counters(call), None, asks_code=False)[0]


def check_own_password_and_code(call: Call, password: str, code: str, action: str) -> PersonWithPassword:
    """Check the caller's password and the code of their second factor.

    Raises like `check_own_password`, and SecondFactorRequired or SecondFactorWrong.
    """
    _check_by_password(call)
    return _check(call, call.principal.name, password, action, own_counters(call), code, asks_code=True)[0]


def _check_by_password(call: Call) -> None:
    if call.principal.by_provider:
        raise Refused("signed_in_at_provider")


def own_counters(call: Call) -> tuple[Counter, ...]:
    """The counters of failed tries for a caller who is signed in."""
    return own_password_counters(own_cookie(call), call.address)


def own_cookie(call: Call) -> str:
    """The session cookie of this call. Raises Refused for callers by token or proxy."""
    if call.by_proxy:
        raise Refused("signed_in_by_proxy")
    if call.session_cookie is None:
        raise Refused("for_people_only")
    return call.session_cookie


def signing_key(call: Call) -> str | None:
    """SIGNING_KEY, from which the secrets of second factors are derived; None when it is not set."""
    key: str | None = call.services.config.values.get("SIGNING_KEY")
    return key


def note_failure(
    call: Call, connection: Connection, now: datetime, counters: tuple[Counter, ...], username: str, action: str
) -> None:
    """Count a failed try and write it into the audit log, without the password.

    Tries with names that nobody has are one line an hour with their number: strangers can make any number of them.
    """
    access.note_failure(connection, now, counters)
    name, details = access.shown_name(connection, username), {"address": call.address}
    line = AuditLine("anonymous", action, f"user:{name}", "refused", call.request_id, details)
    if name == access.NAME_OF_NOBODY:
        access.record_often(connection, now, line, of_each_target=True)
    else:
        access.record_audit(connection, now, line)


def _check(
    call: Call,
    username: str,
    password: str,
    action: str,
    counters: tuple[Counter, ...],
    code: str | None,
    *,
    asks_code: bool,
) -> tuple[PersonWithPassword, SecondFactorProof]:
    with call.transaction() as (connection, now):
        access.refuse_when_limited(connection, now, counters)
        user = access.look_up(connection, username)
    is_right = access.password_is_right(user.password_hash if user else None, password)
    proof = SecondFactorProof.NOT_NEEDED
    with call.transaction() as (connection, now):
        access.refuse_when_limited(connection, now, counters)
        if is_right and user is not None and asks_code:
            proof = second_factor_operations.prove(connection, now, user.id, code, signing_key(call))
        if not is_right or proof is SecondFactorProof.WRONG:
            note_failure(call, connection, now, counters, username, action)
    if user is None or not is_right:
        raise InvalidIdentity("name_or_password_wrong")
    if proof is SecondFactorProof.MISSING:
        raise SecondFactorRequired
    if proof is SecondFactorProof.WRONG:
        raise SecondFactorWrong
    return user, proof
