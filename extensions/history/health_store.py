"""SQL of the health history: one row holds the values of a bunch of displays, in parallel arrays.

Values are in tenths. The hash is Postgres' own for hash partitions, which is the same in every version.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from extensions.history.health_rules import BUNCHES, TURNS, Sample
from shared.postgres import query
from shared.postgres.query import Query

AT_MOST: Final = 24  # rows of a bunch that a tick drops: two hours' worth, so that a backlog shrinks


def bunch_of(uuid: str) -> str:
    """SQL: the bunch of a uuid."""
    return f"mod(hashtextextended({uuid}, 0) & 2147483647, {BUNCHES})"


def _tenths(column: str) -> str:
    """SQL: an array of the values of `column` in whole tenths."""
    return f"array_agg(CAST(round(10 * {column}) AS smallint)) AS {column}"


SAMPLES_OF = Query(
    f"""
    SELECT at, cpu[place] / 10.0::float8 AS cpu_percent, memory[place] / 10.0::float8 AS memory_percent,
        disk[place] / 10.0::float8 AS disk_percent, temperature[place] / 10.0::float8 AS temperature_celsius
    FROM (SELECT *, array_position(clients, CAST(:uuid AS uuid)) AS place FROM client_health_history
        WHERE bunch = {bunch_of(":uuid")} AND at >= CAST(:since AS timestamptz) AND at < CAST(:until AS timestamptz)
        ) AS h
    WHERE place IS NOT NULL ORDER BY at
    """,
    Sample,
)


@query.run(
    f"""
    INSERT INTO client_health_history (bunch, at, clients, cpu, memory, disk, temperature)
    SELECT {bunch_of("client_uuid")} AS bunch, CAST(:at AS timestamptz), array_agg(CAST(client_uuid AS uuid)),
        {_tenths("cpu_percent")}, {_tenths("memory_percent")}, {_tenths("disk_percent")},
        {_tenths("temperature_celsius")}
    FROM client_health
    WHERE received_at > CAST(:fresh_since AS timestamptz)
        AND mod({bunch_of("client_uuid")}, {TURNS}) = CAST(:turn AS int)
        AND num_nonnulls(cpu_percent, memory_percent, disk_percent, temperature_celsius) > 0
    GROUP BY bunch
    ON CONFLICT (bunch, at) DO NOTHING
    """
)
def sample(connection: Connection, turn: int, at: datetime, fresh_since: datetime) -> int:
    """Store the values that displays of this turn reported after `fresh_since`, as samples of `at`.

    Returns how many rows were added: none at a repetition.
    """


def samples_of(connection: Connection, uuid: str, since: datetime, until: datetime) -> Sequence[Sample]:
    """One client's samples in [`since`, `until`), in order of time."""
    return SAMPLES_OF.all(connection, uuid=uuid, since=since, until=until)


@query.run(
    f"""
    DELETE FROM client_health_history AS h
    USING generate_series(CAST(:turn AS int), {BUNCHES} - 1, {TURNS}) AS b(bunch),
        LATERAL (SELECT bunch, at FROM client_health_history AS old
            WHERE old.bunch = b.bunch AND old.at < CAST(:before AS timestamptz) ORDER BY old.at LIMIT {AT_MOST}) AS old
    WHERE (h.bunch, h.at) = (old.bunch, old.at)
    """
)
def drop_before(connection: Connection, turn: int, before: datetime) -> int:
    """Drop old rows of one turn's bunches, at most AT_MOST of each. Returns how many."""
