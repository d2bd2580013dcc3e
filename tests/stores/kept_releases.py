"""A dump of each release's database, from which the tests upgrade. `make version` writes the one of its version.

    python -m tests.stores.kept_releases VERSION

It has rows of each noun, made by this code through its API (tests/api/schema_world.py).
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from tests import migrated
from tests.api.schema_world import world

KEPT: Final = Path(__file__).with_name("releases")
DUMP: Final = ("pg_dump", "--no-owner", "--no-privileges")
OF_A_NEWER_POSTGRES: Final = re.compile(r"^(?:SET transaction_timeout = 0;|\\(?:un)?restrict .*)\n", re.MULTILINE)


def releases() -> list[Path]:
    """The dumps, the oldest first."""
    return sorted(KEPT.glob("*.sql"), key=lambda path: [int(number) for number in path.stem.split(".")])


def dump(cluster: postgres.Cluster, database: str) -> str:
    """A database as SQL that each Postgres from 15 on reads."""
    command = [str(cluster.programs.folder / DUMP[0]), *DUMP[1:], cluster.url(database)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return OF_A_NEWER_POSTGRES.sub("", said)


def load(cluster: postgres.Cluster, database: str, sql: str) -> None:
    """Bring a dump into an empty database."""
    psql = [str(cluster.programs.folder / "psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1"]
    subprocess.run([*psql, cluster.url(database)], input=sql, check=True, capture_output=True, text=True)


def filled() -> str:
    """The dump of a new database of this code with rows of each noun."""
    with (
        tempfile.TemporaryDirectory(prefix="signage-kept-") as folder,
        migrated.running() as cluster,
        mosquitto.throw_away() as broker,
        world(Path(folder), migrated.url_of(cluster), broker),
    ):
        return dump(cluster, postgres.DATABASE)


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{sys.argv[1]}.sql").write_text(filled(), encoding="utf-8")
