"""SQL of what operators said to recovery: holds and exclusions."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import insert

from shared.tables import client_recovery, recovery_exclusions

x = recovery_exclusions.c
EXCLUSION = (x.id, x.client_uuid, x.site, x.reason, x.excluded_by, x.excluded_at)
"""What every view of an exclusion shows."""


def hold(connection: Connection, now: datetime, client_uuid: str, by: str, reason: str, until: datetime | None) -> bool:
    """Leave this client alone; False when just that hold stands already."""
    values = {"held_at": now, "held_by": by, "held_reason": reason, "held_until": until}
    r = client_recovery.c
    statement = insert(client_recovery).values(client_uuid=client_uuid, **values)
    statement = statement.on_conflict_do_update(
        index_elements=[r.client_uuid],
        set_=values,
        where=sa.or_(
            r.held_at.is_(None), r.held_reason != reason, r.held_until.is_distinct_from(until), r.held_until <= now
        ),
    )
    return connection.execute(statement.returning(r.client_uuid)).first() is not None


def resume(connection: Connection, client_uuid: str) -> bool:
    """Take the hold off and begin the ladder anew; False when there is neither."""
    r = client_recovery.c
    counts = dict.fromkeys(("step", "restarts", "reboots", "refused_restarts", "refused_reboots"), 0)
    anew = {**counts, "tried_since": None, "healthy_since": None, "unheard_at": None}
    free = {"held_at": None, "held_by": None, "held_reason": None, "held_until": None, "decided": None}
    statement = (
        sa.update(client_recovery)
        .where(r.client_uuid == client_uuid)
        .where(
            sa.or_(
                r.step > 0,
                r.refused_restarts + r.refused_reboots > 0,
                r.held_at.is_not(None),
                r.unheard_at.is_not(None),
            )
        )
        .values(**anew, **free)
    )
    return connection.execute(statement).rowcount == 1


def exclude(
    connection: Connection, now: datetime, by: str, reason: str, client_uuid: str | None, site: str | None
) -> RowMapping | None:
    """Never recover this client, or any of this site; None when that was said already."""
    values = {"client_uuid": client_uuid, "site": site, "reason": reason, "excluded_by": by, "excluded_at": now}
    statement = insert(recovery_exclusions).values(**values).on_conflict_do_nothing().returning(*EXCLUSION)
    return connection.execute(statement).mappings().one_or_none()


def include(connection: Connection, client_uuid: str | None, site: str | None) -> bool:
    """Take the exclusion of this client, or of this site, back; False when there is none."""
    whom = x.client_uuid == client_uuid if client_uuid is not None else x.site == site
    return connection.execute(sa.delete(recovery_exclusions).where(whom)).rowcount == 1


def exclusion(connection: Connection, client_uuid: str | None, site: str | None) -> RowMapping | None:
    """What excludes this client, or whoever stands at this site; None where neither does. One of both is given."""
    whom = [column == said for column, said in ((x.client_uuid, client_uuid), (x.site, site)) if said is not None]
    query = sa.select(*EXCLUSION).where(sa.or_(*whom)).order_by(x.site.nulls_first()).limit(1)
    return connection.execute(query).mappings().one_or_none()


def exclusions(connection: Connection, limit: int, after: int | None) -> Sequence[RowMapping]:
    """Up to `limit` exclusions, the newest first, with an id below `after`."""
    query = sa.select(*EXCLUSION).order_by(x.id.desc()).limit(limit)
    if after is not None:
        query = query.where(x.id < after)
    return connection.execute(query).mappings().all()
