"""Use cases of access: signing in and out, tokens, the first admin, the audit log.

A password check takes 20 ms and 19 MiB on purpose. It runs between two transactions, in at most two threads, so
that many callers with wrong passwords use up neither memory nor database connections.
"""

import secrets
import threading
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from sqlalchemy import Connection

from shared.access import attempts_store, audit_store, rules, store
from shared.access.people import store as people_store
from shared.access.people.store import Person, PersonWithPassword
from shared.access.rules import AuditLine, Counter, Principal
from shared.access.store import ApiToken
from shared.errors import InvalidIdentity, PersonUnknown, Refused, SessionNotFound, TokenNotFound, TooManyAttempts
from shared.names import password_text
from shared.vocabulary import PrincipalKind, Role

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SESSION_BYTES: Final = 32
NAME_OF_NOBODY: Final = "?"
_HASHING: Final = threading.BoundedSemaphore(2)
# The smallest argon2id parameters that OWASP recommends: 19 MiB, two passes, one lane.
_PASSES: Final = 2
_MEMORY_KIB: Final = 19_456


# --- identify the caller ---


def principal_of_token(connection: Connection, text: str) -> Principal:
    """The caller who holds this API token. Raises InvalidIdentity unless it is known, live and well-formed."""
    parsed = rules.parse_token(text)
    if parsed is None:
        raise InvalidIdentity
    token = store.token_by_id(connection, parsed[0])
    if token is None or not rules.matches(parsed[1], token.secret_hash):
        raise InvalidIdentity
    now = token.now
    holder = Principal(
        PrincipalKind.TOKEN,
        token.id,
        token.name,
        token.role,
        token.expires_at,
        recognised_at=now,
        sites=token.sites,
    )
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
        sites=session.sites,
        by_provider=session.by_provider,
    )


def principal_of_email(connection: Connection, email: str, expires_at: datetime) -> Principal:
    """The person with this e-mail address, which the proxy before the API asserts. Raises PersonUnknown."""
    if (user := people_store.user_by_email(connection, email)) is None:
        raise PersonUnknown("email_unknown", facts={"email": email[:200]}).of(f"unknown:{email[:200]}")
    sites = None if user.sites is None else tuple(user.sites)
    return Principal(PrincipalKind.USER, str(user.id), user.username, user.role, expires_at, sites=sites)


# --- signing in: look_up, then password_is_right outside any transaction, then sign_in or refuse ---


def look_up(connection: Connection, username: str) -> PersonWithPassword | None:
    """The user of this name. None: unknown, disabled, or the one-time password has expired.

    Check the password in either case, so that the response time does not show which.
    """
    return people_store.user_by_name(connection, username)


def shown_name(connection: Connection, username: str) -> str:
    """The typed user name for the audit log; NAME_OF_NOBODY for an unknown name, which may be a password."""
    return username if people_store.is_taken(connection, username) else NAME_OF_NOBODY


def is_known_address(connection: Connection, now: datetime, username: str, address: str) -> bool:
    """Whether the user of this name signed in from this address in the last 30 days."""
    since = now - rules.ADDRESS_IS_KNOWN
    return attempts_store.is_known_address(connection, username, rules.network_of(address), since)


def refuse_when_limited(connection: Connection, now: datetime, counters: tuple[Counter, ...]) -> None:
    """Raises TooManyAttempts when a counter is full. Locks the counters until the transaction ends."""
    # Always in the same order, so that two sign-ins cannot deadlock.
    for counter in sorted(counters, key=lambda one: one.bucket):
        attempts_store.lock_bucket(connection, counter.bucket)
        failures = attempts_store.failures_since(connection, counter.bucket, now - rules.FAILURES_COUNT_FOR)
        wait = rules.wait_after_failures(failures, now, counter.allowed)
        if wait is not None:
            raise TooManyAttempts(retry_after_seconds=rules.whole_seconds(wait))


def note_failure(connection: Connection, now: datetime, counters: tuple[Counter, ...]) -> None:
    """Count a failed sign-in and delete those that no longer count."""
    for counter in counters:
        attempts_store.insert_failure(connection, counter.bucket, now)
    attempts_store.delete_failures_before(connection, now - rules.FAILURES_COUNT_FOR)


def password_is_right(password_hash: str | None, password: str) -> bool:
    """Whether `password` fits the hash. Without a hash (unknown user) False, after the same time.

    Hashes are made of `names.password_text`; older ones of what was typed, so that is tried, too, where it differs.
    """
    meant = password_text(password)
    fits = _verifies(password_hash, meant) or (meant != password and _verifies(password_hash, password))
    return fits and password_hash is not None


def _verifies(password_hash: str | None, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError  # noqa: PLC0415 - cold start

    with _HASHING:
        try:
            return _hasher().verify(password_hash or _hash_of_nobody(), password)
        except (VerificationError, InvalidHashError):
            return False


def hash_password(password: str) -> str:
    """The argon2id hash of a person's password, with its salt and parameters."""
    with _HASHING:
        return _hasher().hash(password_text(password))


def sign_in(connection: Connection, now: datetime, user: PersonWithPassword, address: str) -> Person:
    """The user after a correct password, as stored now. Call `open_session` in the same transaction.

    `address` becomes known: for 30 days failed tries from other addresses do not lock it out.
    Raises InvalidIdentity when their password was replaced, or they were disabled, since `user` was looked up.
    """
    signed_in = people_store.note_sign_in(connection, now, user.id, user.password_hash)
    if signed_in is None:
        raise InvalidIdentity("name_or_password_wrong")
    attempts_store.note_address(connection, signed_in.id, rules.network_of(address), now)
    return signed_in


def open_session(
    connection: Connection,
    now: datetime,
    user_id: int,
    lifetime: timedelta,
    address: str | None = None,
    browser: str | None = None,
    id_token: str | None = None,
) -> tuple[str, datetime]:
    """A new session of a user. Returns the cookie's value, which is not stored, and the end.

    `address` and `browser` help the person to recognise the session. `id_token` is that of a sign-in at the provider.
    """
    cookie = secrets.token_urlsafe(SESSION_BYTES)
    store.delete_sessions_before(connection, now - lifetime)
    store.insert_session(connection, rules.digest(cookie), user_id, now, now + lifetime, address, browser, id_token)
    return cookie, now + lifetime


def close_session(connection: Connection, now: datetime, cookie: str) -> str | None:
    """Sign out: the cookie no longer works. Returns the identity token of a sign-in at the provider."""
    store.revoke_session(connection, rules.digest(cookie), now)
    return store.id_token_of(connection, rules.digest(cookie))


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

    Raises Refused when another request has changed the password since `user` was read.
    """
    if not people_store.replace_password(connection, user.id, user.password_hash, new_hash):
        raise Refused("password_changed_elsewhere")
    store.revoke_other_sessions(connection, user.id, rules.digest(cookie), now)


def ensure_first_admin(connection: Connection, now: datetime, username: str, password: str) -> bool:
    """Add an admin when there is no user. Returns whether one was added.

    They must set a password of their own first (not enforced in deployment mode `local`).
    """
    if people_store.any_user(connection):
        return False
    hashed = hash_password(password)
    people_store.lock_users(connection)  # of two concurrent first starts the second one sees the admin of the first
    if people_store.any_user(connection):
        return False
    people_store.insert_user(connection, now, username, hashed, Role.ADMIN, must_change_password=True)
    created = AuditLine("service", "user.create", f"user:{username}", "done", None, {"role": "admin"})
    record_audit(connection, now, created)
    return True


# --- API tokens ---


def issue_token(
    connection: Connection,
    now: datetime,
    name: str,
    role: Role,
    created_by: str,
    expires_at: datetime | None,
    sites: Collection[str] | None = None,
) -> tuple[ApiToken, str]:
    """A new API token, for these sites or (None) for all. Returns its row and its text, which is not stored."""
    token_id = secrets.token_hex(rules.TOKEN_ID_BYTES)
    secret = secrets.token_hex(rules.TOKEN_SECRET_BYTES)
    row = store.insert_token(
        connection,
        token_id,
        name,
        role,
        rules.digest(secret),
        created_by,
        now,
        expires_at,
        rules.in_order(sites),
    )
    return row, rules.compose_token(token_id, secret)


def revoke_token(connection: Connection, now: datetime, token_id: str) -> None:
    """End a token at once. Raises TokenNotFound."""
    if not store.revoke_token(connection, token_id, now):
        raise TokenNotFound


# --- the audit log ---


def record_audit(connection: Connection, now: datetime, line: AuditLine) -> None:
    """Append one line."""
    audit_store.insert(connection, now, line)


def record_often(connection: Connection, now: datetime, line: AuditLine, *, of_each_target: bool = False) -> None:
    """Record an act that a caller can repeat quickly: one line an hour, or one of each target, with its repetitions.

    The first act is recorded at once. `details.repeats`: how often it was repeated since the line before. The tick
    records the last repetitions (`flush_repeats`).
    """
    of_target = [line.target] if of_each_target else []
    key = rules.digest("\x00".join((line.actor, line.action, line.result, *of_target)))
    counted = audit_store.count_repeat(connection, now, key, line)
    if counted.repeats == 0:
        record_audit(connection, now, line)
    elif counted.began_at <= now - rules.REPEATS_ARE_ONE_LINE:
        more = {"repeats": counted.repeats - 1} if counted.repeats > 1 else {}
        record_audit(connection, now, replace(line, details={**line.details, **more}))
        audit_store.begin_repeats(connection, now, key)


def flush_repeats(connection: Connection, now: datetime) -> int:
    """Write lines of repetitions whose hour is over. Returns how many lines."""
    repeated = [
        row for row in audit_store.take_repeats_before(connection, now - rules.REPEATS_ARE_ONE_LINE) if row.repeats
    ]
    for row in repeated:
        line = AuditLine(row.actor, row.action, row.target, row.result, None, {"repeats": row.repeats})
        record_audit(connection, now, line)
    return len(repeated)


@lru_cache(maxsize=1)
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher  # noqa: PLC0415 - cold start

    return PasswordHasher(time_cost=_PASSES, memory_cost=_MEMORY_KIB, parallelism=1)


@lru_cache(maxsize=1)
def _hash_of_nobody() -> str:
    """The hash for unknown users, so that the response time does not show that the name is unknown."""
    return _hasher().hash(secrets.token_urlsafe(16))
