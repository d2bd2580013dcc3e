"""SQL of sessions and API tokens."""

from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.fragments import END_OF_TIME
from shared.postgres.query import Query
from shared.vocabulary import Role


class CallersSession(Struct, frozen=True):
    """A caller's session, with its user and the database's `now`."""

    user_id: int
    expires_at: datetime
    revoked_at: datetime | None
    username: str
    role: Role
    must_change_password: bool
    is_one_time: bool
    now: datetime
    last_seen_at: datetime
    has_second_factor: bool
    sites: tuple[str, ...] | None
    by_provider: bool


class CallersToken(Struct, frozen=True):
    """A caller's token, valid or not, and the database's `now`."""

    id: str
    name: str
    role: Role
    secret_hash: str
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    now: datetime
    sites: tuple[str, ...] | None


class OwnSession(Struct, frozen=True):
    """One of the caller's valid sessions. `last_seen_at` is exact to a minute."""

    id: int
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    address: str | None
    browser: str | None
    is_this_one: bool


class ApiToken(Struct, frozen=True):
    """A token without its secret."""

    id: str
    name: str
    role: Role
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    sites: list[str] | None


# --- sessions ---


@query.run(
    """
    INSERT INTO user_sessions (id_hash, user_id, created_at, expires_at, address, browser, id_token)
    VALUES (:id_hash, :user_id, :created_at, :expires_at, :address, :browser, :id_token)
    """
)
def insert_session(
    connection: Connection,
    id_hash: str,
    user_id: int,
    created_at: datetime,
    expires_at: datetime,
    address: str | None = None,
    browser: str | None = None,
    id_token: str | None = None,
) -> None:
    """Add a session of a user, seen now. `id_token`: that of a sign-in at the provider."""


@query.run(
    """
    UPDATE user_sessions SET last_seen_at = :now WHERE id_hash IN (
        SELECT id_hash FROM user_sessions WHERE id_hash = :id_hash AND last_seen_at <= :not_since
        FOR UPDATE SKIP LOCKED)
    """
)
def note_session_use(connection: Connection, id_hash: str, now: datetime, not_since: datetime) -> None:
    """Set last_seen_at unless it was set after `not_since`, or another transaction has locked the row: no wait."""


@query.rows(
    """
    SELECT number AS id, created_at, last_seen_at, expires_at, address, browser, id_hash = :mine AS is_this_one
    FROM user_sessions
    WHERE user_id = :user_id AND revoked_at IS NULL AND expires_at > :now AND last_seen_at > :seen_after
    ORDER BY last_seen_at DESC, number DESC
    """
)
def live_sessions(
    connection: Connection, user_id: int, mine: str, now: datetime, seen_after: datetime
) -> list[OwnSession]:
    """A user's valid sessions, the last used one first. `mine`: the hash of the cookie that asks."""


@query.run(
    """
    UPDATE user_sessions SET revoked_at = :now
    WHERE user_id = :user_id AND number = :number AND revoked_at IS NULL AND expires_at > :now
    """
)
def revoke_own_session(connection: Connection, user_id: int, number: int, now: datetime) -> bool:
    """End a session of a user by its number. False when no valid session has it."""


@query.one_or_none(
    """
    SELECT s.user_id, s.expires_at, s.revoked_at, u.username, u.role, u.must_change_password,
        u.one_time_until IS NOT NULL AS is_one_time, now() AS now, s.last_seen_at,
        f.confirmed_at IS NOT NULL AS has_second_factor, u.sites,
        s.id_token IS NOT NULL AS by_provider
    FROM user_sessions AS s JOIN users AS u ON u.id = s.user_id
    LEFT JOIN second_factors AS f ON f.user_id = u.id
    WHERE s.id_hash = :id_hash AND u.disabled_at IS NULL
    """
)
def session_by_hash(connection: Connection, id_hash: str) -> CallersSession | None:
    """A session with its user and the database's `now`; None when unknown or the user is disabled."""


@query.run("UPDATE user_sessions SET revoked_at = :now WHERE id_hash = :id_hash AND revoked_at IS NULL")
def revoke_session(connection: Connection, id_hash: str, now: datetime) -> bool:
    """End a session. False when it had ended before."""


@query.one_or_none("SELECT id_token FROM user_sessions WHERE id_hash = :id_hash AND id_token IS NOT NULL")
def id_token_of(connection: Connection, id_hash: str) -> str | None:
    """The identity token with which the provider let the person in; None for a sign-in by password."""


@query.run(
    """
    UPDATE user_sessions SET revoked_at = :now
    WHERE user_id = :user_id AND id_hash <> :kept_hash AND revoked_at IS NULL
    """
)
def revoke_other_sessions(connection: Connection, user_id: int, kept_hash: str, now: datetime) -> int:
    """End every session of a user but one. Returns how many."""


@query.run("DELETE FROM user_sessions WHERE expires_at < :moment")
def delete_sessions_before(connection: Connection, moment: datetime) -> int:
    """Delete sessions that expired before `moment`. Returns how many."""


# --- API tokens ---


_LISTED: Final = """
    t.id, t.name, t.role, t.created_by, t.created_at, t.expires_at, t.revoked_at, t.last_used_at,
    t.sites"""


@query.one(
    f"""
    INSERT INTO api_tokens AS t (id, name, role, secret_hash, created_by, created_at, expires_at, sites)
    VALUES (:token_id, :name, :role, :secret_hash, :created_by, :created_at, :expires_at, CAST(:sites AS text[]))
    RETURNING {_LISTED}
    """
)
def insert_token(
    connection: Connection,
    token_id: str,
    name: str,
    role: Role,
    secret_hash: str,
    created_by: str,
    created_at: datetime,
    expires_at: datetime | None,
    sites: list[str] | None,
) -> ApiToken:
    """Add an API token and answer it without its hash."""


@query.one_or_none(
    """
    SELECT t.id, t.name, t.role, t.secret_hash, t.expires_at, t.revoked_at, t.last_used_at,
        now() AS now, t.sites
    FROM api_tokens AS t WHERE t.id = :token_id
    """
)
def token_by_id(connection: Connection, token_id: str) -> CallersToken | None:
    """A token, valid or not, with its secret_hash and the database's `now`."""


@query.run(
    """
    UPDATE api_tokens SET last_used_at = :now WHERE id IN (
        SELECT id FROM api_tokens WHERE id = :token_id AND (last_used_at IS NULL OR last_used_at <= :not_since)
        FOR UPDATE SKIP LOCKED)
    """
)
def note_token_use(connection: Connection, token_id: str, now: datetime, not_since: datetime) -> None:
    """Set last_used_at unless it was set after `not_since`, or another transaction has locked the row: no wait."""


TOKENS_PAGE = Query(
    f"""
    SELECT {_LISTED} FROM api_tokens AS t WHERE (created_at, id) < (:at, :id)
    ORDER BY created_at DESC, id DESC LIMIT :limit
    """,
    ApiToken,
)


def tokens_page(connection: Connection, limit: int, after: tuple[datetime, str] | None) -> list[ApiToken]:
    """Tokens, newest first, past the (created_at, id) of `after`."""
    at, token_id = after or (END_OF_TIME, "")
    return TOKENS_PAGE.all(connection, at=at, id=token_id, limit=limit)


@query.run("UPDATE api_tokens SET revoked_at = coalesce(revoked_at, :now) WHERE id = :token_id")
def revoke_token(connection: Connection, token_id: str, now: datetime) -> bool:
    """Revoke a token; a revoked one keeps its time. False when no token has this id."""
