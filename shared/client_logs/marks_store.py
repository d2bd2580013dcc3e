"""SQL of marks: for each boot of a client, the number up to which its lines are stored, and the ones above it."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from shared.client_logs.rules import Boot, Mark
from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query


class MarkRow(NamedTuple):
    """The mark of a boot, with one of the islands above it, if any."""

    boot: Boot
    seq: int
    low: int | None
    high: int | None
    is_over: bool
    doubted_at: datetime | None
    may_doubt: bool


class BootSeq(NamedTuple):
    """A number of a boot: of a log line, or of its mark."""

    uuid: str
    install_id: str
    boot_seq: int
    seq: int


class NewMark(Struct, frozen=True):
    """The new mark of a boot, and whether it is doubted."""

    uuid: str
    install_id: str
    boot_seq: int
    seq: int
    doubted: bool


BOOTS, SEQS = ManyRows("said", Boot), ManyRows("said", BootSeq)
NEW = ManyRows("said", NewMark)
OF_SAID: Final = "(client_uuid, install_id, boot_seq) = (said.uuid, said.install_id, said.boot_seq)"
MARKS = Query(
    f"""
    SELECT json_build_array(said.uuid, said.install_id, said.boot_seq) AS boot, coalesce(m.seq, 0) AS seq,
        island.low, island.high, m.over_at IS NOT NULL AS is_over, m.doubted_at,
        EXISTS (SELECT FROM client_heartbeats AS h WHERE h.client_uuid = said.uuid) AS may_doubt
    FROM {BOOTS}
    LEFT JOIN log_marks AS m ON (m.client_uuid, m.install_id, m.boot_seq) = (said.uuid, said.install_id, said.boot_seq)
    LEFT JOIN LATERAL (
        SELECT min(k.seq) AS low, max(k.seq) AS high
        FROM (SELECT seq, seq - row_number() OVER (ORDER BY seq) AS shift FROM log_keys WHERE {OF_SAID}) AS k
        GROUP BY k.shift) AS island ON true
    ORDER BY said.uuid, said.install_id, said.boot_seq, island.low
    """,
    MarkRow,
)


def marks(connection: Connection, boots: Collection[Boot]) -> dict[Boot, Mark]:
    """The mark of each of these boots."""
    found: dict[Boot, Mark] = {}
    for row in MARKS.all(connection, **BOOTS.of(boots)):
        island = () if row.low is None or row.high is None else ((row.low, row.high),)
        islands = (*(found[row.boot].islands if row.boot in found else ()), *island)
        found[row.boot] = Mark(row.seq, islands, row.is_over, row.doubted_at, row.may_doubt)
    return found


SET_MARKS = Query(
    f"""
    INSERT INTO log_marks AS m (client_uuid, install_id, boot_seq, seq, updated_at, doubted_at)
    SELECT uuid, install_id, boot_seq, seq, CAST(:now AS timestamptz),
        CASE WHEN doubted THEN CAST(:now AS timestamptz) END
    FROM {NEW}
    WHERE EXISTS (SELECT FROM clients AS c WHERE c.uuid = said.uuid)
    ORDER BY uuid, install_id, boot_seq
    ON CONFLICT (client_uuid, install_id, boot_seq)
        DO UPDATE SET seq = EXCLUDED.seq, updated_at = EXCLUDED.updated_at,
            over_at = CASE WHEN EXCLUDED.doubted_at IS NOT NULL THEN m.over_at END,
            doubted_at = CASE WHEN EXCLUDED.doubted_at IS NOT NULL
                THEN coalesce(m.doubted_at, EXCLUDED.doubted_at) END
    """,
    NO_ROW,
)


def set_marks(connection: Connection, now: datetime, moved: Mapping[Boot, int], doubted: Collection[Boot]) -> None:
    """Write the marks of known clients, and which are `doubted`; the others may no longer number from 1 again."""
    SET_MARKS.run(connection, now=now, **NEW.of([NewMark(*boot, seq, boot in doubted) for boot, seq in moved.items()]))


@query.run(
    f"""
    UPDATE log_marks AS m SET over_at = CAST(:now AS timestamptz),
        doubted_at = CASE WHEN m.doubted_at IS NOT NULL THEN CAST(:now AS timestamptz) END
    FROM {BOOTS}
    WHERE m.client_uuid = said.uuid AND m.install_id = said.install_id AND m.boot_seq >= said.boot_seq
    """,
    BOOTS,
)
def end(connection: Connection, now: datetime, boots: Collection[Boot]) -> int:
    """Note that these boots, and later ones of the installation, may number from 1 again. Returns how many marks.

    A doubt stays: the repeated numbers were the first new ones.
    """


FORGET = tuple(
    Query(
        f"""
        DELETE FROM {table} AS stored USING {BOOTS}
        WHERE (stored.client_uuid, stored.install_id, stored.boot_seq) = (said.uuid, said.install_id, said.boot_seq)
        """,
        NO_ROW,
    )
    for table in ("log_marks", "log_keys")
)


def forget(connection: Connection, boots: Collection[Boot]) -> None:
    """Delete the marks and keys of these boots."""
    for deletion in FORGET:
        deletion.run(connection, **BOOTS.of(boots))


BELIEVE = Query(
    """
    UPDATE log_marks SET doubted_at = NULL
    WHERE client_uuid = ANY(CAST(:uuids AS text[])) AND doubted_at IS NOT NULL AND over_at IS NULL
    RETURNING client_uuid, install_id, boot_seq, seq
    """,
    BootSeq,
)


def believe(connection: Connection, uuids: Collection[str]) -> dict[Boot, int]:
    """End the doubts about marks of these clients. Returns the marks that were doubted."""
    return {Boot(*one[:3]): one.seq for one in BELIEVE.all(connection, uuids=sorted(uuids))}


ADD_KEYS = Query(
    f"""
    INSERT INTO log_keys (client_uuid, install_id, boot_seq, seq)
    SELECT uuid, install_id, boot_seq, seq FROM {SEQS}
    WHERE EXISTS (SELECT FROM clients AS c WHERE c.uuid = said.uuid)
    """,
    NO_ROW,
)
DROP_KEYS = Query(
    f"""
    DELETE FROM log_keys AS k USING {SEQS}
    WHERE (k.client_uuid, k.install_id, k.boot_seq) = (said.uuid, said.install_id, said.boot_seq)
        AND k.seq <= said.seq
    """,
    NO_ROW,
)


def add_keys(connection: Connection, keys: Collection[tuple[Boot, int]]) -> None:
    """Remember lines of known clients that are stored above their mark."""
    ADD_KEYS.run(connection, **SEQS.of([BootSeq(*boot, seq) for boot, seq in keys]))


def drop_keys(connection: Connection, moved: Mapping[Boot, int]) -> None:
    """Delete the keys that a mark has passed."""
    DROP_KEYS.run(connection, **SEQS.of([BootSeq(*boot, seq) for boot, seq in moved.items()]))


@query.one(
    """
    WITH gone AS (DELETE FROM log_marks AS m WHERE updated_at < CAST(:before AS timestamptz)
            AND EXISTS (SELECT FROM log_marks AS newer WHERE newer.client_uuid = m.client_uuid
                AND (newer.updated_at, newer.boot_seq, newer.install_id)
                    > (m.updated_at, m.boot_seq, m.install_id))
            AND NOT EXISTS (SELECT FROM client_heartbeats AS h WHERE h.client_uuid = m.client_uuid
                AND h.install_id = m.install_id AND h.boot_seq = m.boot_seq)
        RETURNING client_uuid, install_id, boot_seq),
    keys AS (DELETE FROM log_keys AS k USING gone AS g
        WHERE (k.client_uuid, k.install_id, k.boot_seq) = (g.client_uuid, g.install_id, g.boot_seq))
    SELECT count(*) FROM gone
    """
)
def drop_marks(connection: Connection, before: datetime) -> int:
    """Delete the marks of boots that logged nothing since `before`, longer than any spool. Returns how many.

    The marks of the boot that a client logged in last, and of its present boot, stay.
    """
