"""The size of each form of an overview of ten thousand clients, compressed as the gateway does it (decision 4).

    python -m tests.lab.bench.packing

It measures no time. The service answers `objects` and `packed`; the other forms are made of the same data, each with
one idea more than the form above it.
"""

import base64
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection

from deploy.local import postgres
from deploy.parts.layout import REPOSITORY
from shared.overview import packed_operations, packed_rules, store
from shared.postgres.door import database_now, engine_for
from tests.lab.bench.fleet import CLIENTS, FAILURES, HEARTBEATS, NOISE
from tests.lab.bench.reads import CLIENTS as COUNT
from tests.lab.bench.reads import GZIP_LEVEL
from tests.unpacked import uuids_of

Columns = dict[str, Any]
WORDS: Final = ("site", "process_status", "status", "screen_health", "presence", "app_version")
TIMES: Final = ("status_since", "last_heartbeat_at", "mqtt_last_disconnect_at")


def main() -> None:
    """Print a table for a realistic fleet, and one for a fleet of random values."""
    with postgres.throw_away() as server:
        engine = engine_for(migrated(server), "packing")
        with engine.begin() as connection:
            for statement in (CLIENTS, HEARTBEATS, FAILURES):
                values = {"clients": COUNT} if ":clients" in statement else {}
                connection.execute(sa.text(statement), values)
            tell("a realistic fleet", connection)
            connection.execute(sa.text(NOISE))
            tell("random values", connection)
        engine.dispose()


def migrated(server: postgres.Cluster) -> str:
    url = postgres.ensure_database(server, "owner")
    command = [sys.executable, "-m", "alembic", "upgrade", "head"]
    subprocess.run(command, check=True, cwd=REPOSITORY, env={**os.environ, "DATABASE_URL": url})
    return url


def tell(fleet: str, connection: Connection) -> None:
    """Print the table for the fleet in the database."""
    now = database_now(connection)
    rows = json.loads(f"[{store.whole_fleet(connection, {})}]")
    packed = packed_operations.whole_fleet(connection, now, {})
    beats, packed_beats = f"[{store.heartbeats(connection)}]", packed_operations.heartbeats(connection, now)
    print(f"\n{fleet}: {COUNT:,} clients {'bytes':>18} {'compressed':>12}")
    show("objects (format=objects)", written([dict(zip(store.COLUMNS, row, strict=True)) for row in rows]))
    show("rows", written(rows))
    columns = {name: [row[place] for row in rows] for place, name in enumerate(store.COLUMNS)}
    show("columns", written(columns))
    told = json.loads(packed)
    for idea, change in IDEAS.items():
        columns = change(columns, told)
        show(f"+ {idea}", written(columns))
    show("packed (format=packed)", packed)
    show("packed, in the order of uuids", written(by_uuid(told)))
    for name, values in told.items():
        show(f"  of it {name}", written(values))
    show("heartbeats apart (hb=1), rows", beats)
    show("heartbeats apart (hb=1), packed", packed_beats)


def written(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def show(what: str, text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    print(f"  {what:<42} {len(data):>10,} {len(gzip.compress(data, GZIP_LEVEL)):>12,}")


def with_bytes(columns: Columns, told: Columns) -> Columns:
    return {**columns, "uuid": told["uuid"]}


def with_seconds(columns: Columns, told: Columns) -> Columns:
    return {**columns, **{name: told[name] for name in (*TIMES, "service_failed_at", "lockout_until")}}


def with_words(columns: Columns, _told: Columns) -> Columns:
    return {**columns, **{name: as_words(columns[name]) for name in WORDS}}


def as_words(values: list[Any]) -> Mapping[str, Any]:
    """Each different value once, and the index of each client's value."""
    words, places = packed_rules.in_words(values)
    return {"words": words, "places": places}


def with_planes(columns: Columns, _told: Columns) -> Columns:
    return {**columns, **{name: as_planes(columns[name]) for name in TIMES}}


def as_planes(values: list[Any]) -> str:
    """The first bytes of all numbers, then the second ones, and so on, in base64; fractions and nulls left out."""
    numbers = [int(str(value or 0).partition(".")[0]).to_bytes(4, "big", signed=True) for value in values]
    return base64.b64encode(b"".join(bytes(number[place] for number in numbers) for place in range(4))).decode()


def by_uuid(told: Columns) -> Columns:
    """In the order of uuids, so that each uuid could be sent as its difference to the last: 1.5 bytes less for each."""
    uuids = uuids_of(told["uuid"])
    order = sorted(range(len(uuids)), key=uuids.__getitem__)

    def ordered(values: Any) -> Any:
        if isinstance(values, dict):
            return {**values, "places": ordered(values["places"])}
        return [values[n] for n in order]

    digits = "".join(sorted(uuids)).replace("-", "")
    others = {name: ordered(values) for name, values in told.items() if name != "uuid"}
    return {"uuid": base64.b64encode(bytes.fromhex(digits)).decode(), **others}


IDEAS: Final[Mapping[str, Callable[[Columns, Columns], Columns]]] = {
    "uuids as bytes in base64": with_bytes,
    "times in seconds before the answer": with_seconds,
    "few words by their places": with_words,
    "seconds as planes of bytes": with_planes,
}

if __name__ == "__main__":
    main()
