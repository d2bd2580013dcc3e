"""SQL of the opening hours that displays keep by themselves: who is to keep other ones, and who none."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection

from shared.postgres.many import ManyRows
from shared.postgres.query import Query
from shared.quiet.store import CoveredClient, covers


class HoursOf(NamedTuple):
    """The version of the hours of a quiet time."""

    quiet_id: int
    version: str


HOURS: Final = ManyRows("hours", HoursOf)
LIVING: Final = covers(more="AND c.deleted_at IS NULL")
OTHER = Query(
    f"""
    WITH nearest AS (
        SELECT DISTINCT ON (covered.uuid) covered.uuid, covered.id
        FROM ({LIVING}) AS covered JOIN quiet_times AS q ON q.id = covered.id
        ORDER BY covered.uuid, array_position(ARRAY['tag', 'site', 'fleet'], q.scope), q.id DESC)
    SELECT nearest.uuid, nearest.id FROM nearest JOIN {HOURS} ON hours.quiet_id = nearest.id
    LEFT JOIN client_hours AS kept ON kept.client_uuid = nearest.uuid
    WHERE kept.version IS DISTINCT FROM hours.version ORDER BY nearest.uuid
    """,
    CoveredClient,
)


def keepers_of_others(connection: Connection, hours: Sequence[HoursOf]) -> list[CoveredClient]:
    """The clients that are to keep the hours of one of these quiet times and now are to keep other ones, or none.

    Of several that cover a client those of its tag count, then those of its site; of several tags the newest.
    """
    return OTHER.all(connection, quiet=[one.quiet_id for one in hours], **HOURS.of(hours))


UNCOVERED = Query(
    f"""
    SELECT kept.client_uuid FROM client_hours AS kept
    WHERE kept.client_uuid NOT IN (SELECT covered.uuid FROM ({LIVING}) AS covered) ORDER BY kept.client_uuid
    """,
    str,
)


def uncovered(connection: Connection, ids: Sequence[int]) -> list[str]:
    """The clients that are to keep hours although none of these quiet times covers them."""
    return UNCOVERED.all(connection, quiet=list(ids))
