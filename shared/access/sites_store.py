"""SQL of rights by site: a transaction that sees the caller's sites only.

`migrations/site_views.py` makes the views of the schema SCHEMA, through which such a transaction reads and writes.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection

from shared.postgres.fragments import OF_SITES
from shared.postgres.query import Query
from shared.vocabulary import PrincipalKind, Role

SCHEMA: Final = OF_SITES
SETTING: Final = "signage.sites"
BEYOND_SITES: Final = "44000"
"""The SQLSTATE of a write that reaches beyond the caller's sites."""


class Narrowed(NamedTuple):
    """The transaction's `now`, its search path and its sites."""

    now: datetime
    search_path: str
    sites: str


def _narrow(table: str, caller: str, ended: str, lock: str = "") -> Query[Narrowed]:
    return Query(
        f"""
        SELECT now(), set_config('search_path', '{SCHEMA}', true), set_config('{SETTING}', sites::text, true)
        FROM {table} WHERE {caller} AND role = :role AND sites IS NOT NULL AND {ended} IS NULL {lock}
        """,
        Narrowed,
    )


_PERSON: Final = ("users", "id = CAST(CAST(:caller AS text) AS bigint)", "disabled_at")
TO_READ: Final = {
    PrincipalKind.USER: _narrow(*_PERSON),
    PrincipalKind.TOKEN: _narrow("api_tokens", "id = :caller", "revoked_at"),
}
TO_WRITE: Final = {
    PrincipalKind.USER: _narrow(*_PERSON, lock="FOR SHARE"),
    PrincipalKind.TOKEN: _narrow("api_tokens", "id = :caller", "revoked_at", lock="FOR SHARE"),
}


def narrow(connection: Connection, kind: PrincipalKind, caller: str, role: Role, *, to_write: bool) -> datetime | None:
    """Limit this transaction to what the caller may see. Returns its `now`.

    None: by now the caller has another role or all sites, or none any more. `to_write`: a change of the caller's rights
    waits until this transaction ends.
    """
    narrowed = (TO_WRITE if to_write else TO_READ)[kind].one_or_none(connection, caller=caller, role=role.value)
    return narrowed.now if narrowed else None


def _still(table: str, caller: str, ended: str) -> Query[datetime]:
    return Query(
        f"""
        SELECT now() FROM {table} WHERE {caller} AND role = :role AND sites IS NOT DISTINCT FROM CAST(:sites AS text[])
            AND {ended} IS NULL
        """,
        datetime,
    )


STILL = {
    PrincipalKind.USER: _still("users", "id = CAST(CAST(:caller AS text) AS bigint)", "disabled_at"),
    PrincipalKind.TOKEN: _still("api_tokens", "id = :caller", "revoked_at"),
}


def now_of(
    connection: Connection, kind: PrincipalKind, caller: str, role: Role, sites: Sequence[str] | None
) -> datetime | None:
    """This transaction's `now`; None when by now the caller has another role or other sites, or was shut out."""
    listed = None if sites is None else list(sites)
    return STILL[kind].one_or_none(connection, caller=caller, role=role.value, sites=listed)
