"""Use cases of public status pages: make and end links, and read the page of a site.

A link belongs to its site, not to its maker: it stays valid when the maker loses rights, until an admin of the site
ends it. The page shows the displays that the site has at this moment.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from extensions.status_pages import rules, store
from extensions.status_pages.rules import StatusOfDisplay
from extensions.status_pages.store import PageLink, UsedLink
from shared.access import operations as access
from shared.access.rules import TOKEN_USE_RESOLUTION, digest, is_use_worth_noting
from shared.availability import operations as availability
from shared.errors import StatusLinkNotFound
from shared.leadership import store as leadership_store
from shared.leadership.rules import listening
from shared.overview import store as overview_store
from shared.overview.rules import is_scheduler_late
from shared.quiet import store as quiet_store
from shared.words.sentences import Sentence

MOST_INCIDENTS: Final = 5


class ToldIncident(Struct, frozen=True):
    """An open incident for strangers; `cause` is None where its sentence might name a machine."""

    began_at: datetime
    cause: Sentence | None


class SitePage(Struct, frozen=True):
    """A site at one moment."""

    site: str
    now: datetime
    displays: Sequence[StatusOfDisplay]
    more: bool
    """Whether the site has more displays than are shown."""
    incidents: Sequence[ToldIncident]


def make(connection: Connection, now: datetime, name: str, site: str, created_by: str) -> tuple[PageLink, str]:
    """A new link to the page of a site. Returns its row and its secret, which is not stored."""
    quiet_store.lock_batch(connection)  # who renames the site waits for this transaction
    secret = secrets.token_urlsafe(rules.SECRET_BYTES)
    return store.insert(connection, now, name, site, digest(secret), created_by), secret


def end(connection: Connection, now: datetime, link_id: int) -> None:
    """End a link at once. Raises StatusLinkNotFound."""
    if not store.end(connection, now, link_id):
        raise StatusLinkNotFound


def use(connection: Connection, secret: str) -> UsedLink | None:
    """The valid link with this secret; this transaction then sees its site only. None: unknown or ended alike.

    Its use is noted at most once a minute.
    """
    link = store.narrow(connection, digest(secret))
    if link is not None and is_use_worth_noting(link.now, link.last_used_at):
        store.note_use(connection, link.id, link.now, link.now - TOKEN_USE_RESOLUTION)
    return link


def note_invalid(connection: Connection, now: datetime, address: str) -> None:
    """Count a link that was not valid. Raises TooManyAttempts when one network tried too many."""
    counters = rules.counters(address)
    access.refuse_when_limited(connection, now, counters)
    access.note_failure(connection, now, counters)


def read(connection: Connection, site: str, now: datetime) -> SitePage:
    """What the page of this site shows, in a transaction that `use` has limited to the site."""
    found = availability.strips(connection, site, now - rules.WEEK, now, rules.MOST_DISPLAYS + 1)
    until = _judged_until(connection, now)
    displays = [
        rules.shown(one.name, rules.unjudged(one.segments, until, now), one.closed, now)
        for one in found[: rules.MOST_DISPLAYS]
    ]
    return SitePage(
        site,
        now,
        sorted(displays, key=lambda one: one.name.casefold()),
        len(found) > rules.MOST_DISPLAYS,
        [
            ToldIncident(one.began_at, rules.told(site, one.cause))
            for one in store.incidents(connection, MOST_INCIDENTS)
        ],
    )


def _judged_until(connection: Connection, now: datetime) -> datetime:
    """Until when the stored states hold: `now`, unless the bridge is silent or the scheduler is late.

    The scheduler stores that a display is silent; without it a display that broke would run for ever.
    """
    heard = listening(leadership_store.bridge_status(connection), now)
    tick = overview_store.scheduler(connection).last_tick_at
    is_late = is_scheduler_late(tick, now)
    never = now - rules.WEEK
    return min((heard.deaf_since or never) if heard.deaf else now, (tick or never) if is_late else now)
