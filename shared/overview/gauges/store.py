"""SQL behind the gauges: each statement counts by an index, or in a table that stays small. None touches the logs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping

from shared.tables import (
    broker_crashes,
    broker_files_seen,
    client_commands,
    conversions,
    dead_letters,
    door_certificates,
    incidents,
    login_failures,
    notification_channels,
    notification_deliveries,
    recovery_breakers,
    recovery_events,
)
from shared.vocabulary import TERMINAL_RANK, CommandState, ConversionStatus, DeliveryState

k = client_commands.c
OPEN: Final[sa.ColumnElement[bool]] = sa.literal_column(f"client_commands.rank < {TERMINAL_RANK}")
"""Spelt out, so that the planner sees the partial index of open commands."""
OF_TRIES: Final = ("account:% address:%", "session:%")  # each failed try is counted in one of these, and in others
COUNT: Final = sa.func.count().label("count")


def open_commands(connection: Connection, now: datetime) -> Sequence[RowMapping]:
    """Of each state with open commands: state, count, oldest; and of these waiting, oldest_waiting and leased.

    `waiting`: queued, and no broker has ever answered for it.
    """
    is_waiting = sa.and_(k.state == CommandState.QUEUED.value, k.publish_answer.is_(None))
    query = sa.select(
        k.state,
        COUNT,
        sa.func.min(k.created_at).label("oldest"),
        sa.func.count().filter(is_waiting).label("waiting"),
        sa.func.min(k.created_at).filter(is_waiting).label("oldest_waiting"),
        sa.func.count().filter(k.publish_lease_until > now).label("leased"),
    )
    return connection.execute(query.where(OPEN).group_by(k.state)).mappings().all()


def ended_commands(connection: Connection, since: datetime) -> dict[tuple[str, str], int]:
    """How many commands ended since then, by state and reason ('' for none)."""
    query = sa.select(k.state, k.outcome_reason, sa.func.count()).where(k.finished_at > since)
    rows = connection.execute(query.group_by(k.state, k.outcome_reason))
    return {(state, reason or ""): count for state, reason, count in rows}


def recovery_commands(connection: Connection, since: datetime) -> dict[str, int]:
    """How many commands recovery asked for since then, by action."""
    event = recovery_events.c
    query = (
        sa.select(k.action, sa.func.count())
        .join_from(recovery_events, client_commands, k.id == event.command_id)
        .where(event.at > since)
        .group_by(k.action)
    )
    return dict(connection.execute(query).all())


def open_breakers(connection: Connection) -> tuple[int, int]:
    """How many breakers of the fleet (0 or 1) and of sites are open."""
    b = recovery_breakers.c
    is_fleet = b.site == ""
    query = sa.select(sa.func.count().filter(is_fleet), sa.func.count().filter(~is_fleet))
    fleet, sites = connection.execute(query.where(b.open_since.is_not(None))).one()
    return fleet, sites


def open_incidents(connection: Connection) -> dict[str, int]:
    """How many incidents are open, by kind."""
    i = incidents.c
    query = sa.select(i.kind, sa.func.count()).where(i.closed_at.is_(None)).group_by(i.kind)
    return dict(connection.execute(query).all())


def conversions_by_status(connection: Connection, expired_before: datetime) -> Sequence[RowMapping]:
    """Of each status that there is: status, count, when the oldest was asked for, and how many leases are over.

    One row a presentation: a fleet has some thousands.
    """
    c = conversions.c
    is_over = sa.and_(c.status == ConversionStatus.PROCESSING, c.claimed_at < expired_before)
    oldest = sa.func.min(sa.func.coalesce(c.requested_at, c.created_at)).label("oldest")
    query = sa.select(c.status, COUNT, oldest, sa.func.count().filter(is_over).label("leases_over"))
    return connection.execute(query.group_by(c.status)).mappings().all()


def dead_letters_by_reason(connection: Connection, since: datetime) -> dict[str, int]:
    """How many different messages were put aside since then, by reason."""
    d = dead_letters.c
    query = sa.select(d.reason, sa.func.count()).where(d.last_at > since).group_by(d.reason)
    return dict(connection.execute(query).all())


def deliveries(connection: Connection, since: datetime) -> Sequence[RowMapping]:
    """Of each state: state, count and the oldest due_at; of messages made since then, and older pending ones."""
    d = notification_deliveries.c
    pending = d.state == sa.literal_column(f"'{DeliveryState.PENDING.value}'")  # spelt out for the partial index
    query = sa.select(d.state, COUNT, sa.func.min(d.due_at).label("oldest_due"))
    return connection.execute(query.where(sa.or_(pending, d.created_at > since)).group_by(d.state)).mappings().all()


def failing_channels(connection: Connection) -> int:
    """How many channels in use could not be told the last message."""
    c = notification_channels.c
    query = sa.select(sa.func.count()).where(c.enabled, c.last_failed_at.is_not(None))
    return int(connection.execute(query).scalar_one())


def sign_in_failures(connection: Connection, since: datetime) -> int:
    """How many sign-ins failed since then."""
    f = login_failures.c
    query = sa.select(sa.func.count()).where(f.at > since, sa.or_(*(f.bucket.like(form) for form in OF_TRIES)))
    return int(connection.execute(query).scalar_one())


def database_size(connection: Connection) -> int:
    """Bytes of this database."""
    query = sa.select(sa.func.pg_database_size(sa.func.current_database()))
    return int(connection.execute(query).scalar_one())


def broker_files(connection: Connection) -> tuple[int, int]:
    """How many files the broker has open, and may open, as its launcher wrote down last; zeros where it never did."""
    seen = connection.execute(sa.select(broker_files_seen.c.opened, broker_files_seen.c.most)).first()
    return (seen.opened, seen.most) if seen else (0, 0)


def broker_crashes_since(connection: Connection, since: datetime) -> int:
    """How often the broker crashed since then."""
    return connection.scalar(sa.select(sa.func.count()).where(broker_crashes.c.noticed_at > since)) or 0


def certificates(connection: Connection, seen_since: datetime) -> dict[str, datetime]:
    """When the certificate of each door ends that was looked at since then."""
    c = door_certificates.c
    query = sa.select(c.door, c.ends_at).where(c.seen_at > seen_since).order_by(c.door)
    return dict(connection.execute(query).all())
