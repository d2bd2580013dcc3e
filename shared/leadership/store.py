"""SQL on the bridge's own record and on the messages that were put aside."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import insert

from shared.leadership.rules import BridgeStatus
from shared.postgres.door import database_now, sql
from shared.postgres.statements import constant, rows
from shared.tables import bridge_status as bridge
from shared.tables import broker_crashes, broker_files_seen, dead_letters, door_certificates
from shared.vocabulary import Door

LEADER_LOCK: Final = 7_305_002  # advisory lock of the bridge that leads; any number nothing else locks
KEPT_PAYLOAD_BYTES: Final = 4096
KEPT_TOPIC_CHARS: Final = 400  # a unique index takes 2,700 bytes a row
KEPT_DETAIL_CHARS: Final = 500
CRASHES_KEPT: Final = timedelta(days=90)


_BRIDGE_STATUS: Final = constant(  # asked at most requests
    sa.select(
        bridge.c.epoch,
        bridge.c.instance,
        bridge.c.connected_since,
        bridge.c.last_commit_at,
        bridge.c.canary_at,
        bridge.c.counters,
    )
)


@dataclass(slots=True)
class NewDeadLetter:
    """A message that was put aside, `count` times alike."""

    topic: str
    payload: str  # the first 4 KiB, in hexadecimal
    payload_bytes: int  # of the whole
    sha256: str  # of the whole
    reason: str
    detail: str | None
    count: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two letters one."""
        return self.topic, self.sha256, self.reason

    @property
    def sender(self) -> str:
        """The second level of its topic: the broker lets each display write below its own name alone."""
        return self.topic.split("/")[1] if "/" in self.topic else ""


def bridge_status(connection: Connection) -> BridgeStatus:
    """What the leading bridge last wrote about itself."""
    [status] = rows(connection, _BRIDGE_STATUS)
    return BridgeStatus(*status)


def try_lead(connection: Connection) -> bool:
    """Whether this session now holds the leader's lock (until it ends)."""
    return bool(connection.execute(sa.select(sa.func.pg_try_advisory_lock(LEADER_LOCK))).scalar_one())


def next_epoch(connection: Connection, instance: str) -> int:
    """The epoch of the leader that begins now; whoever led before can commit no further batch."""
    begun = {"epoch": bridge.c.epoch + 1, "instance": instance, "connected_since": None, "counters": {}}
    return int(connection.execute(sa.update(bridge).values(**begun).returning(bridge.c.epoch)).scalar_one())


def epoch(connection: Connection) -> int:
    """The epoch of the present leader."""
    return int(connection.execute(sa.select(bridge.c.epoch)).scalar_one())


def leader(connection: Connection) -> tuple[int, str | None]:
    """The epoch of the present leader, and which process it is.

    A database that was put back counts epochs anew: the number alone may be another leader's.
    """
    row = connection.execute(sa.select(bridge.c.epoch, bridge.c.instance)).one()
    return int(row.epoch), row.instance


LIFE: Final = "left(md5(pg_postmaster_start_time()::text || d.oid::text), 12)"
"""SQL, with `pg_database AS d`: another text after each start of Postgres, and on another server.

Of what was committed in another life the database may have forgotten the end.
"""


def life(connection: Connection) -> str:
    """Which life of the database this is; see LIFE."""
    statement = sql(f"SELECT {LIFE} FROM pg_database AS d WHERE d.datname = current_database()")  # noqa: S608 - a constant
    return str(connection.execute(statement).scalar_one())


def connected(connection: Connection, now: datetime, leader_epoch: int) -> bool:
    """The listening time begins; False when this is not the leader's epoch any more."""
    mine = sa.update(bridge).where(bridge.c.epoch == leader_epoch)
    return connection.execute(mine.values(connected_since=now)).rowcount == 1


def disconnected(connection: Connection, leader_epoch: int) -> bool:
    """The listening time is over; False when this is not the leader's epoch any more."""
    mine = sa.update(bridge).where(bridge.c.epoch == leader_epoch)
    return connection.execute(mine.values(connected_since=None)).rowcount == 1


def record_canary(connection: Connection, leader_epoch: int, at: datetime) -> bool:
    """A canary came back at `at`; False when this is not the leader's epoch any more."""
    mine = sa.update(bridge).where(bridge.c.epoch == leader_epoch)
    return connection.execute(mine.values(canary_at=at)).rowcount == 1


MARK_COMMIT: Final = """
    UPDATE bridge_status SET last_commit_at = CAST(:now AS timestamptz), counters = CAST(:counters AS jsonb),
        connected_since = CASE
            WHEN connected_since > CAST(:now AS timestamptz)
                OR (connected_since IS NOT NULL AND last_commit_at NOT BETWEEN CAST(:gap_before AS timestamptz)
                    AND CAST(:gap_after AS timestamptz))
            THEN CAST(:now AS timestamptz) ELSE connected_since END
    WHERE epoch = CAST(:epoch AS bigint)
"""


def mark_commit(
    connection: Connection, now: datetime, leader_epoch: int, counters: Mapping[str, int], max_gap: timedelta
) -> bool:
    """A batch is about to be committed; False when this is not the leader's epoch any more.

    After more than `max_gap` without a commit (database away, process stopped) nothing was heard in
    between, so the listening time begins anew. So it does where it, or the last commit, is of the future: the clock
    was set back, and nobody knows how long ago that commit was.
    """
    values = {
        "now": now,
        "counters": msgspec.json.encode(counters).decode(),
        "gap_before": now - max_gap,
        "gap_after": now + max_gap,
        "epoch": leader_epoch,
    }
    return connection.execute(sql(MARK_COMMIT), values).rowcount == 1


def put_aside(connection: Connection, now: datetime, letters: Sequence[NewDeadLetter]) -> None:
    """Keep messages that were not stored; one that was put aside before for the same reason is counted."""
    connection.execute(
        sa.text(  # jsonb_to_recordset: one parameter for the whole batch
            """
            INSERT INTO dead_letters AS d
                (topic, payload, payload_bytes, sha256, reason, detail, count, first_at, last_at)
            SELECT topic, decode(payload, 'hex'), payload_bytes, sha256, reason, detail, count,
                CAST(:now AS timestamptz), CAST(:now AS timestamptz)
            FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(
                topic text, payload text, payload_bytes int, sha256 text, reason text, detail text, count bigint)
            ORDER BY topic, sha256, reason
            ON CONFLICT (topic, sha256, reason)
                DO UPDATE SET count = d.count + EXCLUDED.count, last_at = EXCLUDED.last_at
            """
        ),
        {"now": now, "rows": msgspec.json.encode(letters).decode()},
    )


def kept_of_senders(connection: Connection, senders: Sequence[str]) -> dict[str, int]:
    """How many different dead letters of each of these senders are kept; who has none is left out."""
    query = sa.select(dead_letters.c.sender, sa.func.count()).where(dead_letters.c.sender.in_(senders))
    return {sender: int(count) for sender, count in connection.execute(query.group_by(dead_letters.c.sender))}


def kept_already(connection: Connection, letters: Sequence[NewDeadLetter]) -> set[tuple[str, str, str]]:
    """The (topic, sha256, reason) of those that were put aside before."""
    statement = sa.text(
        """
        SELECT d.topic, d.sha256, d.reason FROM dead_letters AS d
        JOIN jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(topic text, sha256 text, reason text)
            USING (topic, sha256, reason)
        """
    )
    rows = connection.execute(statement, {"rows": msgspec.json.encode(letters).decode()})
    return {(row.topic, row.sha256, row.reason) for row in rows}


def drop_dead_letters(connection: Connection, before: datetime) -> int:
    """Drop what was last put aside before then; how many rows."""
    return connection.execute(sa.delete(dead_letters).where(dead_letters.c.last_at < before)).rowcount


def dead_letters_page(
    connection: Connection, limit: int, cursor: tuple[datetime, int] | None, sender: str | None = None
) -> Sequence[RowMapping]:
    """Up to `limit` dead letters, the latest first, that come after the pair (last_at, id) `cursor`.

    Of this sender, a client's uuid, or of all.
    """
    columns = [column for column in dead_letters.c if column.name not in {"payload", "sender"}]
    query = sa.select(*columns, dead_letters.c.payload).order_by(
        dead_letters.c.last_at.desc(), dead_letters.c.id.desc()
    )
    if cursor is not None:
        query = query.where(sa.tuple_(dead_letters.c.last_at, dead_letters.c.id) < sa.tuple_(*map(sa.literal, cursor)))
    if sender is not None:
        query = query.where(dead_letters.c.sender == sender)
    return connection.execute(query.limit(limit)).mappings().all()


def note_broker_files(connection: Connection, opened: int, most: int) -> None:
    """How many files the broker has open now, and may open."""
    seen = {"at": sa.func.now(), "opened": opened, "most": most}
    statement = insert(broker_files_seen).values(one=True, **seen)
    connection.execute(statement.on_conflict_do_update(index_elements=["one"], set_=seen))


def note_broker_crashes(connection: Connection, noticed_at: Collection[datetime]) -> int:
    """Keep these moments at which a crash of the broker was noticed, once each; how many are new.

    Older ones than CRASHES_KEPT are neither taken nor kept.
    """
    now = database_now(connection)
    connection.execute(sa.delete(broker_crashes).where(broker_crashes.c.noticed_at < now - CRASHES_KEPT))
    rows = [{"noticed_at": at} for at in set(noticed_at) if at >= now - CRASHES_KEPT]
    if not rows:
        return 0
    return connection.execute(insert(broker_crashes).values(rows).on_conflict_do_nothing()).rowcount


def note_certificates(connection: Connection, ends: Mapping[Door, datetime], doors: Collection[Door]) -> None:
    """Keep when the certificates that were seen just now end; of other doors than `doors` nothing is kept."""
    connection.execute(sa.delete(door_certificates).where(door_certificates.c.door.not_in(list(doors))))
    if not ends:
        return
    now = database_now(connection)
    seen = insert(door_certificates).values([{"door": d, "ends_at": at, "seen_at": now} for d, at in ends.items()])
    new = {"ends_at": seen.excluded.ends_at, "seen_at": seen.excluded.seen_at}
    connection.execute(seen.on_conflict_do_update(index_elements=["door"], set_=new))
