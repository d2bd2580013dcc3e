"""Use cases of the names of sites: rename one with all that names it, and note when its last display goes."""

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.errors import SiteExists, SiteNotFound
from shared.quiet import store as quiet_store
from shared.sites import store


class RenamedSite(Struct, frozen=True):
    """What bears the new name now."""

    displays: int
    people: int
    tokens: int
    channels: int
    quiet_times: int
    opening_hours_ended: int
    """Of two shops that became one, the other one's opening hours hold."""
    schedules: int
    status_links: int
    people_of_provider: int
    """People whose sites the sign-in service gives: there the old name must change, too."""


class EmptiedSite(Struct, frozen=True):
    """A site that has lost its last display, and how many things of each kind still name it."""

    site: str
    names: dict[str, int]


def rename(connection: Connection, now: datetime, before: str, after: str, by: str, *, merges: bool) -> RenamedSite:
    """Rename a site in one transaction: its displays, and everything that names it, bear the new name.

    `merges`: the new name may be that of another site; both are one from now on. Rights come first, because a caller of
    chosen sites locks them before anything else. Recovery and batches wait, so that none decides by half of the names.

    Raises:
        SiteNotFound: no display and nothing else bears the name.
        SiteExists: displays or other things bear the new name, and this shall be no merge.
    """
    store.lock_renames(connection)
    if not store.is_named(connection, before) or before == after:
        raise SiteNotFound
    exists = store.is_named(connection, after)
    if exists and not merges:
        raise SiteExists
    of_provider = store.of_provider(connection, before)
    rights = store.rename_rights(connection, before, after)
    quiet_store.lock_senders(connection)
    store.lock_moves(connection)
    rest = store.rename(connection, now, before, after, by, merges=exists)
    return RenamedSite(**rights, **rest, people_of_provider=of_provider)


def take_from(connection: Connection, uuids: Collection[str]) -> list[str]:
    """Before clients are moved or deleted: their sites. Nobody else takes displays until this transaction ends."""
    store.lock_moves(connection)
    return store.sites_of(connection, uuids)


def emptied(connection: Connection, before: Collection[str]) -> list[EmptiedSite]:
    """Those of these sites at which no display is left, although things name them."""
    found: dict[str, dict[str, int]] = {}
    for one in store.unmatched(connection, before) if before else ():
        found.setdefault(one.site, {})[one.what] = one.count
    return [EmptiedSite(site, names) for site, names in found.items()]
