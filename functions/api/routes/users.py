"""/api/users: the people who sign in, for admins. `sessions` has the change of one's own password."""

from datetime import datetime
from typing import Annotated

import msgspec
from sqlalchemy import Connection

from functions.api.bodies import END, Answer, Body, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page_of
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.sites import EmptySites, Sites, empty_sites
from functions.api.turns import PEOPLE
from shared.access import operations as access
from shared.access.people import operations, store
from shared.access.people.store import Person
from shared.access.rules import ONE_TIME_PASSWORD_LASTS
from shared.errors import (
    AnotherUsername,
    InvalidIdentity,
    LastAdmin,
    OwnAccount,
    SecondFactorUnknown,
    UsernameTaken,
    UserNotFound,
)
from shared.quiet import operations as quiet_times
from shared.vocabulary import Role

routes = Routes("users", "/api/users", "The people who sign in.")

Username = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=64,
        pattern=rf"^[A-Za-z0-9][A-Za-z0-9._@+-]*{END}",
        description="letters, digits and . _ @ + -",
    ),
]


class NewUser(Body):
    """A person to add, and their role: at these sites, or (null) at all."""

    username: Username
    role: Role
    sites: Sites | None = None


class UserChange(Body):
    """A new role, other sites (null: all), or whether the person may sign in. Fields that are left out stay."""

    role: Role | msgspec.UnsetType = msgspec.UNSET
    sites: Sites | msgspec.UnsetType | None = msgspec.UNSET
    disabled: bool | msgspec.UnsetType = msgspec.UNSET


class Reset(Body):
    """The username of the account in the address, to confirm that its password or second factor ends."""

    username: Username


class User(Person, frozen=True):
    """A person who signs in. `sites`: where the role counts; null: at all sites.

    `one_time_until`: the person has a one-time password from an admin. It works until then and must be changed at
    sign-in. `must_change_password` without it: the first admin still has the generated password. `by_provider`: they
    sign in at the sign-in service, which gives role and sites anew each time.
    """

    empty_sites: EmptySites


class HandedOver(Answer):
    """A one-time password for a person. It is shown only once, works until `one_time_until`, and must be changed."""

    user: User
    one_time_password: str
    one_time_until: datetime


@routes.get("", role=Role.ADMIN, bound=Bound.FLEET)
def list_users(call: Call, query: PageQuery) -> Page[User]:
    """All people, also disabled ones, by name."""
    after = decode_cursor(query.cursor, str)
    with call.transaction() as (connection, _):
        rows = store.page(connection, query.limit + 1, after[0] if after else None)
        items = _shown(connection, *rows)
    return page_of(items, query.limit, lambda user: (user.username,))


@routes.post("", role=Role.ADMIN, bound=Bound.FLEET, statuses={201: "Added"}, turns=PEOPLE, raises=(UsernameTaken,))
def add_user(call: Call, body: NewUser) -> HandedOver:
    """Add a person with a one-time password. If the answer is lost, make a new one by `reset-password`."""
    password = operations.new_one_time_password()
    hashed = access.hash_password(password)
    with call.transaction() as (connection, now):
        user = operations.add(connection, now, body.username, body.role, hashed, ONE_TIME_PASSWORD_LASTS, body.sites)
        call.audit(connection, now, "user.create", f"user:{user.username}", role=user.role, **_at(user.sites))
        [shown] = _shown(connection, user)
    return _handed_over(shown, password)


@routes.patch(
    "/<id:user_id>", role=Role.ADMIN, bound=Bound.FLEET, raises=(UserNotFound, InvalidIdentity, OwnAccount, LastAdmin)
)
def change_user(call: Call, user_id: int, body: UserChange) -> User:
    """Change a person's role or sites, or disable or enable them. A change ends all their sessions."""
    role = None if body.role is msgspec.UNSET else body.role
    disabled = None if body.disabled is msgspec.UNSET else body.disabled
    with call.transaction() as (connection, now):
        changed = operations.change(
            connection, now, call.principal, user_id, role, disabled, body.sites, by_proxy=_by_proxy(call)
        )
        target, ended = f"user:{changed.user.username}", changed.sessions_ended
        if changed.role is not None:
            call.audit(connection, now, "user.role", target, role=changed.role.value, sessions_ended=ended)
        if changed.sites:
            call.audit(connection, now, "user.sites", target, sites=changed.user.sites, sessions_ended=ended)
        if changed.disabled is not None:
            action = "user.disable" if changed.disabled else "user.enable"
            call.audit(connection, now, action, target, sessions_ended=ended)
        return _shown(connection, changed.user)[0]


@routes.post(
    "/<id:user_id>/reset-password",
    role=Role.ADMIN,
    bound=Bound.FLEET,
    turns=PEOPLE,
    raises=(UserNotFound, InvalidIdentity, OwnAccount, AnotherUsername),
)
def reset_password(call: Call, user_id: int, body: Reset) -> HandedOver:
    """Replace a person's password by a new one-time password. The old one and all their sessions end."""
    password = operations.new_one_time_password()
    hashed = access.hash_password(password)
    with call.transaction() as (connection, now):
        user = operations.hand_over(
            connection,
            now,
            call.principal,
            user_id,
            body.username,
            hashed,
            ONE_TIME_PASSWORD_LASTS,
            by_proxy=_by_proxy(call),
        )
        call.audit(connection, now, "user.reset_password", f"user:{user.username}")
        [shown] = _shown(connection, user)
    return _handed_over(shown, password)


@routes.post(
    "/<id:user_id>/reset-second-factor",
    role=Role.ADMIN,
    bound=Bound.FLEET,
    raises=(UserNotFound, InvalidIdentity, OwnAccount, AnotherUsername, SecondFactorUnknown),
)
def reset_second_factor(call: Call, user_id: int, body: Reset) -> User:
    """Remove the second factor of a person who lost it. All their sessions end; their password stays."""
    with call.transaction() as (connection, now):
        user = operations.reset_second_factor(
            connection, now, call.principal, user_id, body.username, by_proxy=_by_proxy(call)
        )
        call.audit(connection, now, "user.reset_second_factor", f"user:{user.username}")
        return _shown(connection, user)[0]


@routes.delete(
    "/<id:user_id>",
    role=Role.ADMIN,
    bound=Bound.FLEET,
    statuses={204: "Removed"},
    raises=(UserNotFound, InvalidIdentity, OwnAccount, LastAdmin),
)
def remove_user(call: Call, user_id: int) -> None:
    """Remove a person for good. Tokens that they issued stay: revoke each by itself.

    Their schedules miss their times, their batches end, and with rights for chosen sites only so do their quiet times
    that name displays.
    """
    with call.transaction() as (connection, now):
        user = operations.remove(connection, call.principal, user_id, by_proxy=_by_proxy(call))
        actor, by = f"user:{user.username}", call.principal.actor
        ended = [] if user.sites is None else quiet_times.end_named_by(connection, now, actor, by)
        call.audit(connection, now, "user.delete", actor, role=user.role, **({"quiet_times": ended} if ended else {}))


def _shown(connection: Connection, *people: Person) -> list[User]:
    empty = empty_sites(connection, [person.sites for person in people])
    return [answer_of(User, person, empty_sites=sites) for person, sites in zip(people, empty, strict=True)]


def _at(sites: list[str] | None) -> dict[str, list[str]]:
    """The sites for the audit log; nothing for all sites."""
    return {} if sites is None else {"sites": sites}


def _by_proxy(call: Call) -> bool:
    """Whether a proxy in front of the service authenticates people: then nobody needs a password."""
    return call.services.people_proxy is not None


def _handed_over(user: User, password: str) -> HandedOver:
    assert user.one_time_until is not None  # noqa: S101 - both ways here set it
    return HandedOver(user=user, one_time_password=password, one_time_until=user.one_time_until)
