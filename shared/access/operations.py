"""Use cases of access: signing in and out, tokens, the first admin, the audit log.

Checking a password costs some 20 ms and 19 MiB on purpose, so it is done between two transactions and
by two threads at most: sixty callers with wrong passwords must take neither the memory nor the pool.
"""

import secrets
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection

from shared.access import attempts_store, audit_store, rules, store
from shared.access.people import store as people
from shared.access.people.store import Person, PersonWithPassword
from shared.access.rules import Counter, Principal
from shared.access.store import ApiToken
from shared.errors import InvalidIdentity, PersonUnknown, Refused, SessionNotFound, TokenNotFound, TooManyAttempts
from shared.vocabulary import PrincipalKind, Role

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SESSION_BYTES: Final = 32
_HASHING: Final = threading.BoundedSemaphore(2)
# OWASP's smallest choice for argon2id in equal strength: 19 MiB, two passes, one lane.
_PASSES: Final = 2
_MEMORY_KIB: Final = 19_456


# --- who is calling ---


def principal_of_token(connection: Connection, text: str) -> Principal:
    """The caller who holds this API token. Raises InvalidIdentity unless it is known, live and well-formed."""
    parsed = rules.parse_token(text)
    if parsed is None:
        raise InvalidIdentity
    token = store.token_by_id(connection, parsed[0])
    if token is None or not rules.matches(parsed[1], token.secret_hash):
        raise InvalidIdentity
    now = token.now
    holder = Principal(PrincipalKind.TOKEN, token.id, token.name, token.role, token.expires_at, recognised_at=now)
    if not rules.is_live(now, token.expires_at, token.revoked_at):
        raise InvalidIdentity().of(holder.actor)
    if rules.is_use_worth_noting(now, token.last_used_at):
        store.note_token_use(connection, token.id, now, now - rules.TOKEN_USE_RESOLUTION)
    return holder


def principal_of_session(connection: Connection, cookie: str, idle: timedelta | None = None) -> Principal:
    """The person whose session cookie this is.

    Raises InvalidIdentity unless the session is live and was used within `idle`.
    """
    id_hash = rules.digest(cookie)
    session = store.session_by_hash(connection, id_hash)
    if session is None or not rules.is_live(session.now, session.expires_at, session.revoked_at):
        raise InvalidIdentity
    if rules.is_rested(session.now, session.last_seen_at, idle):
        raise InvalidIdentity
    if rules.is_use_worth_noting(session.now, session.last_seen_at):
        store.note_session_use(connection, id_hash, session.now, session.now - rules.TOKEN_USE_RESOLUTION)
    return Principal(
        PrincipalKind.USER,
        str(session.user_id),
        session.username,
        session.role,
        session.expires_at,
        session.must_change_password,
        session.is_one_time,
        session.has_second_factor,
        session.now,
    )


def principal_of_email(connection: Connection, email: str, expires_at: datetime) -> Principal:
    """The person with this e-mail address, asserted by the proxy in front of us. Raises PersonUnknown."""
    if (user := people.user_by_email(connection, email)) is None:
        unknown = f"{email[:200]} may not use this service yet; ask an admin to add you by that address."
        raise PersonUnknown(unknown).of(f"unknown:{email[:200]}")
    return Principal(PrincipalKind.USER, str(user.id), user.username, user.role, expires_at)


# --- signing in: look_up, then password_is_right outside any transaction, then sign_in or refuse ---


def look_up(connection: Connection, username: str) -> PersonWithPassword | None:
    """The user who wants to sign in; None for nobody, somebody disabled, or a one-time password that is over.

    The password is checked in either case, so that the time taken says nothing.
    """
    return people.user_by_name(connection, username)


def shown_name(connection: Connection, username: str) -> str:
    """The name that somebody typed to sign in, for the audit log; `?` where nobody has it: it may be a password."""
    return username if people.is_taken(connection, username) else "?"


def is_known_address(connection: Connection, now: datetime, username: str, address: str) -> bool:
    """Whether the user of this name signed in from this address in the last 30 days."""
    since = now - rules.ADDRESS_IS_KNOWN
    return attempts_store.is_known_address(connection, username, rules.network_of(address), since)


def refuse_when_limited(
    connection: Connection, now: datetime, counters: tuple[Counter, ...], window: timedelta
) -> None:
    """Raises TooManyAttempts when one of the counters is full; holds them until the transaction ends."""
    # Always in one order, so that two sign-ins cannot wait for each other.
    for counter in sorted(counters, key=lambda one: one.bucket):
        attempts_store.lock_bucket(connection, counter.bucket)
        failures = attempts_store.failures_since(connection, counter.bucket, now - window)
        wait = rules.wait_after_failures(failures, now, counter.allowed, window)
        if wait is not None:
            raise TooManyAttempts(retry_after_seconds=rules.whole_seconds(wait))


def note_failure(connection: Connection, now: datetime, counters: tuple[Counter, ...], window: timedelta) -> None:
    """Count a failed sign-in, and forget those that no longer count."""
    for counter in counters:
        attempts_store.insert_failure(connection, counter.bucket, now)
    attempts_store.delete_failures_before(connection, now - window)


def password_is_right(password_hash: str | None, password: str) -> bool:
    """Does `password` belong to the hash? Without one (unknown user) it takes as long and is False."""
    from argon2.exceptions import InvalidHashError, VerificationError  # noqa: PLC0415 - cold start

    with _HASHING:
        try:
            _hasher().verify(password_hash or _hash_of_nobody(), password)
        except (VerificationError, InvalidHashError):
            return False
    return password_hash is not None


def hash_password(password: str) -> str:
    """The argon2id hash of a person's password, with its salt and parameters."""
    with _HASHING:
        return _hasher().hash(password)


def sign_in(connection: Connection, now: datetime, user: PersonWithPassword, address: str) -> Person:
    """The user whose password was found right, as they are now. Call `open_session` in the same transaction.

    `address` is where they come from; strangers' failed tries do not lock it out for a while.
    Raises InvalidIdentity when their password was replaced, or they were disabled, since `user` was looked up.
    """
    signed_in = people.note_sign_in(connection, now, user.id, user.password_hash)
    if signed_in is None:
        raise InvalidIdentity("Name or password is wrong.")
    attempts_store.note_address(connection, signed_in.id, rules.network_of(address), now)
    return signed_in


def open_session(
    connection: Connection,
    now: datetime,
    user_id: int,
    lifetime: timedelta,
    address: str | None = None,
    browser: str | None = None,
) -> tuple[str, datetime]:
    """A new session of a user: the cookie's value, which nothing keeps, and when it ends.

    `address` and `browser` are what its person recognises it by.
    """
    cookie = secrets.token_urlsafe(SESSION_BYTES)
    store.delete_sessions_before(connection, now - lifetime)
    store.insert_session(connection, rules.digest(cookie), user_id, now, now + lifetime, address, browser)
    return cookie, now + lifetime


def close_session(connection: Connection, now: datetime, cookie: str) -> None:
    """Sign out: the cookie is worth nothing from now on."""
    store.revoke_session(connection, rules.digest(cookie), now)


def end_other_sessions(connection: Connection, now: datetime, user_id: int, cookie: str) -> None:
    """End every session of a user but the one with this cookie."""
    store.revoke_other_sessions(connection, user_id, rules.digest(cookie), now)


def end_own_session(connection: Connection, now: datetime, user_id: int, number: int) -> None:
    """End one of a user's sessions. Raises SessionNotFound."""
    if not store.revoke_own_session(connection, user_id, number, now):
        raise SessionNotFound


def change_password(
    connection: Connection, now: datetime, user: PersonWithPassword, new_hash: str, cookie: str
) -> None:
    """Set a user's new password and end every other session of theirs.

    Raises Refused when it was changed by somebody else since `user` was read.
    """
    if not people.replace_password(connection, user.id, user.password_hash, new_hash):
        raise Refused("The password was changed elsewhere in the meantime; sign in again.")
    store.revoke_other_sessions(connection, user.id, rules.digest(cookie), now)


def ensure_first_admin(connection: Connection, now: datetime, username: str, password: str) -> bool:
    """Add an admin when there is no user at all; says whether one was added.

    They must set a password of their own first (not enforced in deployment mode `local`).
    """
    if people.any_user(connection):
        return False
    hashed = hash_password(password)
    people.lock_users(connection)  # two first starts at once: the second sees the first's admin
    if people.any_user(connection):
        return False
    people.insert_user(connection, now, username, hashed, Role.ADMIN, must_change_password=True)
    record_audit(connection, now, "service", "user.create", f"user:{username}", "done", None, {"role": "admin"})
    return True


# --- API tokens ---


def issue_token(
    connection: Connection, now: datetime, name: str, role: Role, created_by: str, expires_at: datetime | None
) -> tuple[ApiToken, str]:
    """A new API token: its row, and its text, which cannot be had again."""
    token_id = secrets.token_hex(rules.TOKEN_ID_BYTES)
    secret = secrets.token_hex(rules.TOKEN_SECRET_BYTES)
    row = store.insert_token(connection, token_id, name, role, rules.digest(secret), created_by, now, expires_at)
    return row, rules.compose_token(token_id, secret)


def revoke_token(connection: Connection, now: datetime, token_id: str) -> None:
    """End a token at once. Raises TokenNotFound."""
    if not store.revoke_token(connection, token_id, now):
        raise TokenNotFound


# --- the audit log ---


def record_audit(
    connection: Connection,
    now: datetime,
    actor: str,
    action: str,
    target: str,
    result: str,
    request_id: str | None,
    details: Mapping[str, Any],
) -> None:
    """Append one line: who did what to what, how it ended. `details` are JSON values and hold no secret."""
    audit_store.insert(connection, now, actor, action, target, result, request_id, details)


def record_often(
    connection: Connection,
    now: datetime,
    actor: str,
    action: str,
    target: str,
    result: str,
    request_id: str | None,
    details: Mapping[str, Any],
) -> None:
    """Record an act that somebody can repeat at will: one line an hour, which counts the repetitions.

    The first time is a line at once. `details.repeats` says how often it happened again since the line before; the
    tick writes down what was counted last (`flush_repeats`).
    """
    key = rules.digest(f"{actor}\x00{action}\x00{result}")
    counted = audit_store.count_repeat(connection, now, key, actor, action, target, result)
    if counted.repeats == 0:
        record_audit(connection, now, actor, action, target, result, request_id, details)
    elif counted.began_at <= now - rules.REPEATS_ARE_ONE_LINE:
        more = {"repeats": counted.repeats - 1} if counted.repeats > 1 else {}
        record_audit(connection, now, actor, action, target, result, request_id, {**details, **more})
        audit_store.begin_repeats(connection, now, key)


def flush_repeats(connection: Connection, now: datetime) -> int:
    """Write a line of what was repeated, and not again for an hour; says how many lines."""
    repeated = [
        row for row in audit_store.take_repeats_before(connection, now - rules.REPEATS_ARE_ONE_LINE) if row.repeats
    ]
    for row in repeated:
        details = {"repeats": row.repeats}
        record_audit(connection, now, row.actor, row.action, row.target, row.result, None, details)
    return len(repeated)


@lru_cache(maxsize=1)
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher  # noqa: PLC0415 - cold start

    return PasswordHasher(time_cost=_PASSES, memory_cost=_MEMORY_KIB, parallelism=1)


@lru_cache(maxsize=1)
def _hash_of_nobody() -> str:
    """What an unknown user's password is checked against, so that the time taken says nothing."""
    return _hasher().hash(secrets.token_urlsafe(16))
