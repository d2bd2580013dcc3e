"""People and changes of their accounts, for the tests of accounts."""

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import Connection

from shared.access.people import operations, store
from shared.access.rules import Principal
from shared.postgres.door import database_now
from shared.vocabulary import PrincipalKind, Role

HOUR = timedelta(hours=1)
A_TOKEN = Principal(PrincipalKind.TOKEN, "aabbccddeeff", "scripts", Role.ADMIN)
Change = Callable[[Connection, datetime, Principal, int], object]
CHANGES: dict[str, Change] = {
    "demote": lambda c, now, caller, target: operations.change(c, now, caller, target, role=Role.VIEWER),
    "disable": lambda c, now, caller, target: operations.change(c, now, caller, target, disabled=True),
    "remove": lambda c, _now, caller, target: operations.remove(c, caller, target),
    "hand over": lambda c, now, caller, target: operations.hand_over(
        c, now, caller, target, name_of(c, target), "new hash", HOUR
    ),
}
TAKES_THE_KEY = ("demote", "disable", "remove")


def add(connection: Connection, name: str, role: Role = Role.ADMIN, *, own_password: bool = True) -> Principal:
    """Add a person, with their own password or an initial one."""
    now = database_now(connection)
    until = None if own_password else now + HOUR
    user = store.insert_user(connection, now, name, f"hash of {name}", role, not own_password, until)
    assert user is not None
    return Principal(PrincipalKind.USER, str(user.id), name, role)


def id_of(person: Principal) -> int:
    return int(person.id)


def name_of(connection: Connection, user_id: int) -> str:
    """The username of an account; empty if it was removed."""
    row = store.lock_user(connection, user_id)
    return row.username if row is not None else ""


def keyholders(connection: Connection) -> int:
    return len(store.keyholders(store.lock_admins(connection)))
