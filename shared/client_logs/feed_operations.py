"""All displays' log lines, each once, for a reader that comes again and again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from shared.client_logs import feed_store
from shared.client_logs.feed_store import FedLog, Horizon

AGAIN: Final = timedelta(minutes=10)
"""What was received so long before the last line that was read is read again after Postgres forgot that line."""


class FeedPlace(Struct, frozen=True):
    """How far a reader is: it has every line up to the id `after`, which was received at `at`.

    Ids are drawn before their transaction ends, so the lines up to `upto` can all be read only once each transaction
    before `begun` is over.
    """

    life: str
    after: int
    upto: int
    begun: int
    at: datetime


def feed(
    connection: Connection, place: FeedPlace | None, limit: int, *, oldest: bool = False
) -> tuple[Sequence[FedLog], FeedPlace]:
    """The next lines and the place behind them. At the first time there are no lines, and the place is the end.

    `oldest`: at the first time the place is the beginning. After Postgres forgot commits, lines of the last minutes
    come again; none is left out.
    """
    here = feed_store.horizon(connection)
    if place is None:
        return [], _from(here, 0 if oldest else here.newest, here.newest_at)
    if place.life != here.life:
        if feed_store.is_stored(connection, place.after, place.at):
            return [], _from(here, place.after, place.at)
        return [], _from(here, feed_store.newest_before(connection, place.at, AGAIN), place.at)
    if here.finished < place.begun:
        return [], place
    lines = feed_store.between(connection, place.after, place.upto, limit)
    at = lines[-1].received_at if lines else place.at
    if len(lines) == limit:
        return lines, replace(place, after=lines[-1].id, at=at)
    return lines, _from(here, place.upto, at)


def _from(here: Horizon, after: int, at: datetime) -> FeedPlace:
    return FeedPlace(here.life, after, max(after, here.newest), here.begun, at)
