"""SQL on the marks: of each boot of a client, up to which number its logs are stored, and which ones above it."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from shared.client_logs.rules import Boot, Mark
from shared.postgres.door import sql

BOOTS: Final = "unnest(CAST(:uuids AS text[]), CAST(:installs AS text[]), CAST(:boots AS bigint[])"
"""Arrays, and not one JSON document, where a plan depends on how many there are: Postgres sees it of an array."""


def marks(connection: Connection, boots: Collection[Boot]) -> dict[Boot, Mark]:
    """What is stored of each of these boots."""
    statement = sql(
        f"""
        SELECT said.uuid, said.install_id, said.boot_seq, coalesce(m.seq, 0) AS mark, m.over_at, m.doubted_at,
            EXISTS (SELECT FROM client_heartbeats AS h WHERE h.client_uuid = said.uuid) AS may_doubt,
            island.low, island.high
        FROM {BOOTS}) AS said(uuid, install_id, boot_seq)
        LEFT JOIN log_marks AS m
            ON (m.client_uuid, m.install_id, m.boot_seq) = (said.uuid, said.install_id, said.boot_seq)
        LEFT JOIN LATERAL (
            SELECT min(k.seq) AS low, max(k.seq) AS high
            FROM (SELECT seq, seq - row_number() OVER (ORDER BY seq) AS shift FROM log_keys
                WHERE (client_uuid, install_id, boot_seq) = (said.uuid, said.install_id, said.boot_seq)) AS k
            GROUP BY k.shift) AS island ON true
        ORDER BY said.uuid, said.install_id, said.boot_seq, island.low
        """  # noqa: S608 - made of constants
    )
    found: dict[Boot, Mark] = {}
    for row in connection.execute(statement, _columns(boots)):
        boot = (row.uuid, row.install_id, row.boot_seq)
        island = () if row.low is None else ((row.low, row.high),)
        islands = (*(found[boot].islands if boot in found else ()), *island)
        found[boot] = Mark(row.mark, islands, row.over_at is not None, row.doubted_at, row.may_doubt)
    return found


def set_marks(connection: Connection, now: datetime, moved: Mapping[Boot, int], doubted: Collection[Boot]) -> None:
    """Write where the marks of known clients stand now, and which of them are `doubted`; the others are not over."""
    statement = sql(
        f"""
        INSERT INTO log_marks AS m (client_uuid, install_id, boot_seq, seq, updated_at, doubted_at)
        SELECT uuid, install_id, boot_seq, seq, CAST(:now AS timestamptz),
            CASE WHEN doubted THEN CAST(:now AS timestamptz) END
        FROM {BOOTS}, CAST(:seqs AS bigint[]), CAST(:doubted AS boolean[]))
            AS said(uuid, install_id, boot_seq, seq, doubted)
        WHERE EXISTS (SELECT FROM clients AS c WHERE c.uuid = said.uuid)
        ORDER BY uuid, install_id, boot_seq
        ON CONFLICT (client_uuid, install_id, boot_seq)
            DO UPDATE SET seq = EXCLUDED.seq, updated_at = EXCLUDED.updated_at,
                over_at = CASE WHEN EXCLUDED.doubted_at IS NOT NULL THEN m.over_at END,
                doubted_at = CASE WHEN EXCLUDED.doubted_at IS NOT NULL
                    THEN coalesce(m.doubted_at, EXCLUDED.doubted_at) END
        """  # noqa: S608 - made of constants
    )
    told = {"seqs": list(moved.values()), "doubted": [boot in doubted for boot in moved]}
    connection.execute(statement, {"now": now, **_columns(moved), **told})


def end(connection: Connection, now: datetime, boots: Collection[Boot]) -> int:
    """The display may number these boots, and all later ones of the installation, from 1 again; how many marks.

    A doubt stays one: what came again before this was known was the first of the new numbers.
    """
    statement = sql(
        f"""
        UPDATE log_marks AS m SET over_at = CAST(:now AS timestamptz),
            doubted_at = CASE WHEN m.doubted_at IS NOT NULL THEN CAST(:now AS timestamptz) END
        FROM {BOOTS}) AS said(uuid, install_id, boot_seq)
        WHERE m.client_uuid = said.uuid AND m.install_id = said.install_id AND m.boot_seq >= said.boot_seq
        """  # noqa: S608 - made of constants
    )
    return connection.execute(statement, {"now": now, **_columns(boots)}).rowcount


def forget(connection: Connection, boots: Collection[Boot]) -> None:
    """Know nothing of what these boots told."""
    for table in ("log_marks", "log_keys"):
        statement = sql(
            f"""
            DELETE FROM {table} AS stored USING {BOOTS}) AS said(uuid, install_id, boot_seq)
            WHERE (stored.client_uuid, stored.install_id, stored.boot_seq)
                = (said.uuid, said.install_id, said.boot_seq)
            """  # noqa: S608 - made of constants
        )
        connection.execute(statement, _columns(boots))


def believe(connection: Connection, uuids: Collection[str]) -> dict[Boot, int]:
    """Doubt no mark of these clients any more; where those stand that were doubted."""
    statement = sql(
        """
        UPDATE log_marks SET doubted_at = NULL
        WHERE client_uuid = ANY(CAST(:uuids AS text[])) AND doubted_at IS NOT NULL AND over_at IS NULL
        RETURNING client_uuid, install_id, boot_seq, seq
        """
    )
    rows = connection.execute(statement, {"uuids": sorted(uuids)})
    return {(row.client_uuid, row.install_id, row.boot_seq): row.seq for row in rows}


def move_marks(connection: Connection, now: datetime, moves: Mapping[Boot, tuple[int, int]]) -> int:
    """Move each mark from the first number to the second; how many stood at the first."""
    statement = sql(
        f"""
        UPDATE log_marks AS m SET seq = said.seq, updated_at = CAST(:now AS timestamptz)
        FROM {BOOTS}, CAST(:was AS bigint[]), CAST(:seqs AS bigint[]))
            AS said(uuid, install_id, boot_seq, was, seq)
        WHERE (m.client_uuid, m.install_id, m.boot_seq) = (said.uuid, said.install_id, said.boot_seq)
            AND m.seq = said.was
        """  # noqa: S608 - made of constants
    )
    was, seqs = ([move[place] for move in moves.values()] for place in (0, 1))
    return connection.execute(statement, {"now": now, **_columns(moves), "was": was, "seqs": seqs}).rowcount


def add_keys(connection: Connection, keys: Collection[tuple[Boot, int]]) -> None:
    """Remember logs of known clients that are stored above their mark."""
    statement = sql(
        f"""
        INSERT INTO log_keys (client_uuid, install_id, boot_seq, seq)
        SELECT uuid, install_id, boot_seq, seq
        FROM {BOOTS}, CAST(:seqs AS bigint[])) AS said(uuid, install_id, boot_seq, seq)
        WHERE EXISTS (SELECT FROM clients AS c WHERE c.uuid = said.uuid)
        """  # noqa: S608 - made of constants
    )
    connection.execute(statement, {**_columns([boot for boot, _ in keys]), "seqs": [seq for _, seq in keys]})


def drop_keys(connection: Connection, moved: Mapping[Boot, int]) -> None:
    """Forget the keys that a mark has passed."""
    statement = sql(
        f"""
        DELETE FROM log_keys AS k
        USING {BOOTS}, CAST(:seqs AS bigint[])) AS said(uuid, install_id, boot_seq, seq)
        WHERE (k.client_uuid, k.install_id, k.boot_seq) = (said.uuid, said.install_id, said.boot_seq)
            AND k.seq <= said.seq
        """  # noqa: S608 - made of constants
    )
    connection.execute(statement, {**_columns(moved), "seqs": list(moved.values())})


def drop_marks(connection: Connection, before: datetime) -> int:
    """Forget boots that have told nothing since then: no display spools that long; how many marks.

    The boot that a client told something in last, and the one it is in, may go on: their marks stay.
    """
    statement = sql(
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
    return int(connection.execute(statement, {"before": before}).scalar_one())


def _columns(boots: Collection[Boot]) -> dict[str, list[Any]]:
    """The parameters of BOOTS."""
    return {
        "uuids": [uuid for uuid, _, _ in boots],
        "installs": [install_id for _, install_id, _ in boots],
        "boots": [boot_seq for _, _, boot_seq in boots],
    }
