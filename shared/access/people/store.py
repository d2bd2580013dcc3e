"""SQL of people's accounts."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.query import Query
from shared.vocabulary import Role


class Person(Struct, frozen=True):
    """A person's account, as in the list of people."""

    id: int
    username: str
    role: Role
    sites: list[str] | None
    """Where the role counts; None: at all sites."""
    must_change_password: bool
    created_at: datetime
    last_sign_in_at: datetime | None
    one_time_until: datetime | None
    disabled_at: datetime | None
    second_factor: bool
    by_provider: bool
    """They sign in at the provider, which gives role and sites."""


class Admin(Struct, frozen=True):
    """An admin of all sites who can sign in. `has_key`: also while no provider answers."""

    id: int
    has_key: bool


class PersonWithPassword(Person, frozen=True):
    """A person with the hash of the password."""

    password_hash: str


NO_PASSWORD: Final = ""
"""The hash of people who have none: no password fits it."""
BY_PROVIDER: Final = "EXISTS (SELECT FROM provider_identities AS i WHERE i.user_id = u.id)"
"""SQL: whether the person signs in at the provider."""
PERSON: Final = f"""
    u.id, u.username, u.role, u.sites, u.must_change_password, u.created_at, u.last_sign_in_at,
    u.one_time_until, u.disabled_at, EXISTS (
        SELECT FROM second_factors AS f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS second_factor,
    {BY_PROVIDER} AS by_provider"""  # nosec B608 - of our own constants
"""SQL: the columns of a Person."""
ACCEPTED: Final = "u.disabled_at IS NULL AND (u.one_time_until IS NULL OR now() < u.one_time_until)"
"""SQL: whether the person's password works."""


# --- people ---


@query.run("LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE")
def lock_users(connection: Connection) -> None:
    """Lock the users against additions until the transaction ends."""


@query.one("SELECT EXISTS (SELECT FROM users)")
def any_user(connection: Connection) -> bool:
    """Whether there is any user, disabled or not."""


@query.one("SELECT EXISTS (SELECT FROM users WHERE lower(username) = lower(:username))")
def is_taken(connection: Connection, username: str) -> bool:
    """Whether a user, disabled or not, has this name in any case."""


@query.one_or_none(
    f"""
    INSERT INTO users AS u (username, password_hash, role, must_change_password, one_time_until, created_at, sites)
    VALUES (:username, :password_hash, :role, :must_change_password, :one_time_until, :now, CAST(:sites AS text[]))
    ON CONFLICT (username) DO NOTHING RETURNING {PERSON}
    """
)
def insert_user(
    connection: Connection,
    now: datetime,
    username: str,
    password_hash: str,
    role: Role,
    must_change_password: bool,
    one_time_until: datetime | None = None,
    sites: list[str] | None = None,
) -> Person | None:
    """Add a user. None when the name is taken."""


PAGE = Query(
    f"SELECT {PERSON} FROM users AS u WHERE username > :after ORDER BY username LIMIT :limit",
    Person,
)


def page(connection: Connection, limit: int, after: str | None) -> list[Person]:
    """People in the order of their names, after the name `after`."""
    return PAGE.all(connection, limit=limit, after=after or "")


# --- signing in ---


@query.one_or_none(f"SELECT {PERSON}, u.password_hash FROM users AS u WHERE u.username = :username AND {ACCEPTED}")
def user_by_name(connection: Connection, username: str) -> PersonWithPassword | None:
    """The user of this name, if the password works."""


@query.one_or_none(
    f"""
    SELECT {PERSON} FROM users AS u
    WHERE lower(u.username) = lower(:email) AND u.disabled_at IS NULL AND NOT {BY_PROVIDER}
    """
)
def user_by_email(connection: Connection, email: str) -> Person | None:
    """The user whose name is this e-mail address, in any case, unless disabled.

    People of a provider are not found: they chose their names there.
    """


@query.one_or_none(
    f"""
    UPDATE users AS u SET last_sign_in_at = :now
    WHERE u.id = :user_id AND u.password_hash = :password_hash AND {ACCEPTED} RETURNING {PERSON}
    """
)
def note_sign_in(connection: Connection, now: datetime, user_id: int, password_hash: str) -> Person | None:
    """Set last_sign_in_at and return the user. None when the password of this hash no longer works.

    The row stays locked, so that an end of this user's sessions either comes first or sees the new one.
    """


@query.one_or_none(
    f"""
    UPDATE users AS u SET last_sign_in_at = :now WHERE u.id = :user_id AND u.disabled_at IS NULL RETURNING {PERSON}
    """
)
def note_provider_sign_in(connection: Connection, now: datetime, user_id: int) -> Person | None:
    """Set last_sign_in_at of a person whom the provider vouches for, and return them; None when disabled.

    The row stays locked, as in `note_sign_in`.
    """


@query.run(
    """
    UPDATE users AS u SET password_hash = :new_hash, must_change_password = false, one_time_until = NULL
    WHERE id = :user_id AND password_hash = :old_hash AND u.disabled_at IS NULL
    """
)
def replace_password(connection: Connection, user_id: int, old_hash: str, new_hash: str) -> bool:
    """Replace a user's password if its hash still is `old_hash`. Returns whether it was."""


# --- changing somebody's account: `lock_admins` first, always ---


@query.rows(
    f"""
    SELECT u.id, CASE WHEN :by_proxy THEN NOT {BY_PROVIDER}
        ELSE u.one_time_until IS NULL AND u.password_hash <> '' END AS has_key
    FROM users AS u
    WHERE u.role = 'admin' AND u.sites IS NULL AND u.disabled_at IS NULL
        AND (:by_proxy OR u.one_time_until IS NULL OR {BY_PROVIDER})
    ORDER BY u.id FOR UPDATE OF u
    """
)
def lock_admins(connection: Connection, *, by_proxy: bool = False) -> list[Admin]:
    """Lock and return the admins of all sites who can sign in.

    Concurrent changes of accounts wait here for each other, so that the second one sees the result of the first.
    """


def keyholders(admins: Iterable[Admin]) -> set[int]:
    """Those who can sign in by themselves: with a password of their own, or through the proxy."""
    return {admin.id for admin in admins if admin.has_key}


@query.one_or_none(f"SELECT {PERSON} FROM users AS u WHERE u.id = :user_id FOR UPDATE")
def lock_user(connection: Connection, user_id: int) -> Person | None:
    """The person with this id, locked; None without one."""


@query.one(
    f"""
    UPDATE users AS u SET role = :role, sites = CAST(:sites AS text[]), disabled_at = :disabled_at
    WHERE u.id = :user_id RETURNING {PERSON}
    """
)
def change(
    connection: Connection, user_id: int, role: Role, sites: list[str] | None, disabled_at: datetime | None
) -> Person:
    """Write role, sites and disabled_at. Returns the changed user."""


@query.one(
    f"""
    UPDATE users AS u SET password_hash = :password_hash, must_change_password = true, one_time_until = :until
    WHERE u.id = :user_id RETURNING {PERSON}
    """
)
def hand_over(connection: Connection, user_id: int, password_hash: str, until: datetime) -> Person:
    """Set a one-time password that works until `until`. Returns the changed user."""


@query.run("UPDATE user_sessions SET revoked_at = :now WHERE user_id = :user_id AND revoked_at IS NULL")
def end_sessions(connection: Connection, user_id: int, now: datetime) -> int:
    """End every session of a user. Returns how many."""


@query.run("DELETE FROM user_sessions WHERE user_id = :user_id")
def delete_sessions(connection: Connection, user_id: int) -> None:
    """Delete every session of a user."""


@query.run("DELETE FROM users WHERE id = :user_id")
def delete(connection: Connection, user_id: int) -> None:
    """Delete a user who has no sessions."""
