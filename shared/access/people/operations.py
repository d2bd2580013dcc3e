"""Use cases of people's accounts, for admins: add, change, replace the password, remove.

Each change first locks the admins. Keyholders are those with a password of their own, or, when a proxy identifies
people (`by_proxy`), those whom it can name. Of two concurrent changes the second one sees the result of the first, so
that one keyholder always remains: also while a sign-in provider is away.
"""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import Connection

from shared.access import second_factor_operations
from shared.access.people import rules, store
from shared.access.people.store import Person
from shared.access.rules import Principal, in_order
from shared.errors import AnotherUsername, UsernameTaken, UserNotFound
from shared.vocabulary import Role


class Changed(Struct, frozen=True):
    """An account after a change, and the changed fields."""

    user: Person
    role: Role | None
    disabled: bool | None
    sessions_ended: int
    sites: bool = False
    """Whether the sites changed."""


def new_one_time_password() -> str:
    """A new one-time password. Hash it before the transaction, because that is slow."""
    length = rules.ONE_TIME_GROUPS * rules.ONE_TIME_GROUP
    return rules.one_time_password("".join(secrets.choice(rules.ONE_TIME_ALPHABET) for _ in range(length)))


def add(
    connection: Connection,
    now: datetime,
    username: str,
    role: Role,
    one_time_hash: str,
    lifetime: timedelta,
    sites: Collection[str] | None = None,
) -> Person:
    """Add somebody with a one-time password, for these sites or (None) for all.

    Raises:
        UsernameTaken: a person has this name, in any case.
    """
    store.lock_users(connection)
    user = None
    if not store.is_taken(connection, username):
        chosen = in_order(sites)
        user = store.insert_user(connection, now, username, one_time_hash, role, True, now + lifetime, chosen)
    if user is None:
        raise UsernameTaken
    return user


def change(
    connection: Connection,
    now: datetime,
    caller: Principal,
    user_id: int,
    role: Role | None = None,
    disabled: bool | None = None,
    sites: Collection[str] | UnsetType | None = UNSET,
    *,
    by_proxy: bool = False,
) -> Changed:
    """Change the role or the sites, disable or enable. Any change ends the person's sessions.

    None: no change; of `sites` it means all.

    Raises:
        InvalidIdentity, UserNotFound, OwnAccount, LastAdmin.
    """
    keyholders, user = _locked(connection, caller, user_id, by_proxy)
    was_role, was_disabled = user.role, user.disabled_at is not None
    new_role = was_role if role is None else role
    now_disabled = was_disabled if disabled is None else disabled
    new_sites = user.sites if isinstance(sites, UnsetType) else in_order(sites)
    if (new_role, now_disabled, new_sites) == (was_role, was_disabled, user.sites):
        return Changed(user, None, None, 0)
    if rules.takes_the_key(new_role, now_disabled, new_sites):
        rules.check_somebody_stays(user_id, keyholders)
    since = (user.disabled_at or now) if now_disabled else None
    return Changed(
        store.change(connection, user_id, new_role, new_sites, since),
        new_role if new_role is not was_role else None,
        now_disabled if now_disabled != was_disabled else None,
        store.end_sessions(connection, user_id, now),
        new_sites != user.sites,
    )


def hand_over(
    connection: Connection,
    now: datetime,
    caller: Principal,
    user_id: int,
    username: str,
    one_time_hash: str,
    lifetime: timedelta,
    *,
    by_proxy: bool = False,
) -> Person:
    """Replace the password of the account with this number and name by a one-time one, and end its sessions.

    Only an API token may replace the only keyholder's password, because the token remains and can do it again. The
    required name stops a script that walks all ids from locking out the only admin.

    Raises:
        InvalidIdentity, UserNotFound, OwnAccount, AnotherUsername.
    """
    _, named = _locked(connection, caller, user_id, by_proxy)
    if named.username != username:
        raise AnotherUsername
    user = store.hand_over(connection, user_id, one_time_hash, now + lifetime)
    store.end_sessions(connection, user_id, now)
    return user


def reset_second_factor(
    connection: Connection, now: datetime, caller: Principal, user_id: int, username: str, *, by_proxy: bool = False
) -> Person:
    """Remove the second factor of the account with this number and name, and end its sessions.

    Raises:
        InvalidIdentity, UserNotFound, OwnAccount, AnotherUsername, SecondFactorUnknown.
    """
    _, named = _locked(connection, caller, user_id, by_proxy)
    if named.username != username:
        raise AnotherUsername
    second_factor_operations.remove(connection, user_id)
    store.end_sessions(connection, user_id, now)
    user = store.lock_user(connection, user_id)
    assert user is not None  # noqa: S101 - it is locked
    return user


def remove(connection: Connection, caller: Principal, user_id: int, *, by_proxy: bool = False) -> Person:
    """Delete a person. Returns the former account. The audit log keeps the person's acts and name.

    Raises:
        InvalidIdentity, UserNotFound, OwnAccount, LastAdmin.
    """
    keyholders, user = _locked(connection, caller, user_id, by_proxy)
    rules.check_somebody_stays(user_id, keyholders)
    store.delete_sessions(connection, user_id)
    store.delete(connection, user_id)
    return user


def _locked(connection: Connection, caller: Principal, user_id: int, by_proxy: bool) -> tuple[set[int], Person]:
    """The keyholders and the account, both locked, after another check of the caller's right."""
    admins = store.lock_admins(connection, by_proxy=by_proxy)
    rules.check_caller(caller, user_id, [admin.id for admin in admins])
    user = store.lock_user(connection, user_id)
    if user is None:
        raise UserNotFound
    return store.keyholders(admins), user
