"""SQL of access: sessions, failed sign-ins, tokens, the audit log."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection, Row
from sqlalchemy.dialects.postgresql import insert

from shared.postgres.statements import constant, rows
from shared.tables import (
    api_tokens,
    audit_log,
    audit_repeats,
    login_failures,
    second_factors,
    sign_in_addresses,
    user_sessions,
    users,
)
from shared.vocabulary import Role

AnyRow = Row[*tuple[Any, ...]]
_TOKEN_COLUMNS = (
    api_tokens.c.id,
    api_tokens.c.name,
    api_tokens.c.role,
    api_tokens.c.created_by,
    api_tokens.c.created_at,
    api_tokens.c.expires_at,
    api_tokens.c.revoked_at,
    api_tokens.c.last_used_at,
)
# Asked at every request, so made once: making a statement costs more than running it.
_TOKEN_BY_ID = constant(
    sa.select(
        api_tokens.c.id,
        api_tokens.c.name,
        api_tokens.c.role,
        api_tokens.c.secret_hash,
        api_tokens.c.expires_at,
        api_tokens.c.revoked_at,
        api_tokens.c.last_used_at,
        sa.func.now().label("now"),
    ).where(api_tokens.c.id == sa.bindparam("token_id"))
)


class TokenRow(NamedTuple):
    """A token as who asks is recognised by it, whether live or not, and the database's `now`."""

    id: str
    name: str
    role: str
    secret_hash: str
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    now: datetime


_SESSION_BY_HASH = constant(
    sa.select(
        user_sessions.c.user_id,
        user_sessions.c.expires_at,
        user_sessions.c.revoked_at,
        users.c.username,
        users.c.role,
        users.c.must_change_password,
        users.c.one_time_until.is_not(None).label("is_one_time"),
        sa.func.now().label("now"),
        user_sessions.c.last_seen_at,
        second_factors.c.confirmed_at.is_not(None).label("has_second_factor"),
    )
    .join(users, users.c.id == user_sessions.c.user_id)
    .outerjoin(second_factors, second_factors.c.user_id == users.c.id)
    .where(user_sessions.c.id_hash == sa.bindparam("id_hash"))
    .where(users.c.disabled_at.is_(None))
)


class SessionRow(NamedTuple):
    """A session as who asks is recognised by it, with its user and the database's `now`."""

    user_id: int
    expires_at: datetime
    revoked_at: datetime | None
    username: str
    role: str
    must_change_password: bool
    is_one_time: bool
    now: datetime
    last_seen_at: datetime
    has_second_factor: bool


_AUDIT_COLUMNS = (
    audit_log.c.id,
    audit_log.c.at,
    audit_log.c.actor,
    audit_log.c.action,
    audit_log.c.target,
    audit_log.c.result,
    audit_log.c.request_id,
    audit_log.c.details,
)


# --- sessions ---


def insert_session(
    connection: Connection,
    id_hash: str,
    user_id: int,
    created_at: datetime,
    expires_at: datetime,
    address: str | None = None,
    browser: str | None = None,
) -> None:
    """Add a session of a user, seen now."""
    connection.execute(
        sa.insert(user_sessions).values(
            id_hash=id_hash,
            user_id=user_id,
            created_at=created_at,
            expires_at=expires_at,
            address=address,
            browser=browser,
        )
    )


def note_session_use(connection: Connection, id_hash: str, now: datetime, not_since: datetime) -> None:
    """Set last_seen_at unless it was set after `not_since`, or somebody else is just doing so: nobody waits for it."""
    free = (
        sa.select(user_sessions.c.id_hash)
        .where(user_sessions.c.id_hash == id_hash, user_sessions.c.last_seen_at <= not_since)
        .with_for_update(skip_locked=True)
    )
    connection.execute(sa.update(user_sessions).where(user_sessions.c.id_hash.in_(free)).values(last_seen_at=now))


def live_sessions(connection: Connection, user_id: int, now: datetime, seen_after: datetime) -> list[AnyRow]:
    """The sessions with which a user can come in, the one that was used last first."""
    live = (
        sa.select(user_sessions)
        .where(user_sessions.c.user_id == user_id, user_sessions.c.revoked_at.is_(None))
        .where(user_sessions.c.expires_at > now, user_sessions.c.last_seen_at > seen_after)
        .order_by(user_sessions.c.last_seen_at.desc(), user_sessions.c.number.desc())
    )
    return list(connection.execute(live))


def revoke_own_session(connection: Connection, user_id: int, number: int, now: datetime) -> bool:
    """End a session of a user by its number; False when there is none that lives."""
    statement = (
        sa.update(user_sessions)
        .where(user_sessions.c.user_id == user_id, user_sessions.c.number == number)
        .where(user_sessions.c.revoked_at.is_(None), user_sessions.c.expires_at > now)
        .values(revoked_at=now)
    )
    return connection.execute(statement).rowcount == 1


def session_by_hash(connection: Connection, id_hash: str) -> SessionRow | None:
    """A session with its user and the database's `now`; None when unknown or the user is disabled."""
    found = rows(connection, _SESSION_BY_HASH, {"id_hash": id_hash})
    return SessionRow(*found[0]) if found else None


def revoke_session(connection: Connection, id_hash: str, now: datetime) -> bool:
    """End a session; False when it had ended already."""
    statement = (
        sa.update(user_sessions)
        .where(user_sessions.c.id_hash == id_hash, user_sessions.c.revoked_at.is_(None))
        .values(revoked_at=now)
    )
    return connection.execute(statement).rowcount == 1


def revoke_other_sessions(connection: Connection, user_id: int, kept_hash: str, now: datetime) -> int:
    """End every session of a user but one; says how many."""
    statement = (
        sa.update(user_sessions)
        .where(user_sessions.c.user_id == user_id, user_sessions.c.id_hash != kept_hash)
        .where(user_sessions.c.revoked_at.is_(None))
        .values(revoked_at=now)
    )
    return connection.execute(statement).rowcount


def delete_sessions_before(connection: Connection, moment: datetime) -> int:
    """Forget sessions that expired before `moment`; says how many."""
    return connection.execute(sa.delete(user_sessions).where(user_sessions.c.expires_at < moment)).rowcount


# --- failed sign-ins ---


def lock_bucket(connection: Connection, bucket: str) -> None:
    """Until the transaction ends nobody else counts in this bucket."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(bucket, 0))))


def failures_since(connection: Connection, bucket: str, since: datetime) -> list[datetime]:
    """When tries in this bucket failed after `since`, oldest first."""
    statement = (
        sa.select(login_failures.c.at)
        .where(login_failures.c.bucket == bucket, login_failures.c.at > since)
        .order_by(login_failures.c.at)
    )
    return list(connection.execute(statement).scalars())


def insert_failure(connection: Connection, bucket: str, at: datetime) -> None:
    """Count a failed try."""
    connection.execute(sa.insert(login_failures).values(bucket=bucket, at=at))


def delete_failures_before(connection: Connection, moment: datetime) -> int:
    """Forget failed tries from before `moment`; says how many."""
    return connection.execute(sa.delete(login_failures).where(login_failures.c.at < moment)).rowcount


def is_known_address(connection: Connection, username: str, address: str, since: datetime) -> bool:
    """Whether the user of this name signed in from this address after `since`."""
    known = (
        sa.select(sign_in_addresses.c.user_id)
        .join(users, users.c.id == sign_in_addresses.c.user_id)
        .where(users.c.username == username, sign_in_addresses.c.address == address)
        .where(sign_in_addresses.c.last_at > since)
    )
    return bool(connection.execute(sa.select(sa.exists(known))).scalar_one())


def note_address(connection: Connection, user_id: int, address: str, now: datetime) -> None:
    """Write down from where a user has signed in."""
    statement = insert(sign_in_addresses).values(user_id=user_id, address=address, last_at=now)
    connection.execute(statement.on_conflict_do_update(index_elements=["user_id", "address"], set_={"last_at": now}))


def delete_addresses_before(connection: Connection, moment: datetime) -> int:
    """Forget from where nobody has signed in since `moment`; says how many."""
    return connection.execute(sa.delete(sign_in_addresses).where(sign_in_addresses.c.last_at < moment)).rowcount


# --- API tokens ---


def insert_token(
    connection: Connection,
    token_id: str,
    name: str,
    role: Role,
    secret_hash: str,
    created_by: str,
    created_at: datetime,
    expires_at: datetime | None,
) -> AnyRow:
    """Add an API token and answer it without its hash."""
    statement = sa.insert(api_tokens).values(
        id=token_id,
        name=name,
        role=role.value,
        secret_hash=secret_hash,
        created_by=created_by,
        created_at=created_at,
        expires_at=expires_at,
    )
    return connection.execute(statement.returning(*_TOKEN_COLUMNS)).one()


def token_by_id(connection: Connection, token_id: str) -> TokenRow | None:
    """A token with its secret_hash and the database's `now`, whether live or not."""
    found = rows(connection, _TOKEN_BY_ID, {"token_id": token_id})
    return TokenRow(*found[0]) if found else None


def note_token_use(connection: Connection, token_id: str, now: datetime, not_since: datetime) -> None:
    """Set last_used_at unless it was set after `not_since`, or somebody else is just doing so: nobody waits for it."""
    free = (
        sa.select(api_tokens.c.id)
        .where(api_tokens.c.id == token_id)
        .where(sa.or_(api_tokens.c.last_used_at.is_(None), api_tokens.c.last_used_at <= not_since))
        .with_for_update(skip_locked=True)
    )
    connection.execute(sa.update(api_tokens).where(api_tokens.c.id.in_(free)).values(last_used_at=now))


def tokens_page(connection: Connection, limit: int, after: tuple[datetime, str] | None) -> list[AnyRow]:
    """Tokens, newest first, past the (created_at, id) of `after`."""
    statement = sa.select(*_TOKEN_COLUMNS).order_by(api_tokens.c.created_at.desc(), api_tokens.c.id.desc())
    if after is not None:
        statement = statement.where(sa.tuple_(api_tokens.c.created_at, api_tokens.c.id) < sa.tuple_(*after))
    return list(connection.execute(statement.limit(limit)))


def revoke_token(connection: Connection, token_id: str, now: datetime) -> bool:
    """End a token; one that had ended keeps its time. False when there is none of this id."""
    statement = (
        sa.update(api_tokens)
        .where(api_tokens.c.id == token_id)
        .values(revoked_at=sa.func.coalesce(api_tokens.c.revoked_at, now))
    )
    return connection.execute(statement).rowcount == 1


# --- the audit log ---


def insert_audit(
    connection: Connection,
    at: datetime,
    actor: str,
    action: str,
    target: str,
    result: str,
    request_id: str | None,
    details: Mapping[str, Any],
) -> None:
    """Append a line; nothing in the product changes or removes one before its retention ends."""
    connection.execute(
        sa.insert(audit_log).values(
            at=at,
            actor=actor,
            action=action,
            target=target,
            result=result,
            request_id=request_id,
            details=dict(details),
        )
    )


def count_repeat(
    connection: Connection, now: datetime, key: str, actor: str, action: str, target: str, result: str
) -> AnyRow:
    """Count what may be a repetition, and lock its count: `repeats` is 0 the first time, `began_at` the last line's."""
    new = insert(audit_repeats).values(key=key, actor=actor, action=action, target=target, result=result, began_at=now)
    again = new.on_conflict_do_update(index_elements=["key"], set_={"repeats": audit_repeats.c.repeats + 1})
    return connection.execute(again.returning(audit_repeats.c.repeats, audit_repeats.c.began_at)).one()


def begin_repeats(connection: Connection, now: datetime, key: str) -> None:
    """Another line was written of it: count from there."""
    connection.execute(sa.update(audit_repeats).where(audit_repeats.c.key == key).values(began_at=now, repeats=0))


def take_repeats_before(connection: Connection, moment: datetime) -> list[AnyRow]:
    """Forget the counts that began before `moment`, and answer them."""
    statement = sa.delete(audit_repeats).where(audit_repeats.c.began_at <= moment)
    return list(connection.execute(statement.returning(*audit_repeats.c)))


def delete_audit_before(connection: Connection, moment: datetime) -> int:
    """End the retention of lines from before `moment`; says how many. No component may delete: a function does it.

    It spares the last 30 days (migration 0046), whatever it is asked for.
    """
    return int(connection.execute(sa.select(sa.func.forget_audit_before(moment))).scalar_one())


def audit_page(
    connection: Connection,
    limit: int,
    after: tuple[datetime, int] | None,
    actor: str | None = None,
    action: str | None = None,
    target: str | None = None,
) -> list[AnyRow]:
    """Audit lines, newest first, past the (at, id) of `after`, of one actor, action or target if asked."""
    statement = sa.select(*_AUDIT_COLUMNS).order_by(audit_log.c.at.desc(), audit_log.c.id.desc())
    if after is not None:
        statement = statement.where(sa.tuple_(audit_log.c.at, audit_log.c.id) < sa.tuple_(*after))
    wanted = {audit_log.c.actor: actor, audit_log.c.action: action, audit_log.c.target: target}
    for column, value in wanted.items():
        if value is not None:
            statement = statement.where(column == value)
    return list(connection.execute(statement.limit(limit)))
