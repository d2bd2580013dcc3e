"""`python -m deploy.box.migrations`: migrates the database to this code's schema; a newer schema stays unchanged.

Older code works on a newer schema, so a rollback to an older image needs no downgrade. Alembic alone would fail there,
because it does not know the newer revision. Services that run meanwhile may hold what a step locks; then all of it is
undone and tried again. Environment: DATABASE_URL, DATABASE_ROLE_PASSWORDS.
"""

import sys
import time
from typing import Final

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from deploy.parts.layout import REPOSITORY
from migrations.rights import RolesImpossible
from shared import config
from shared.errors import ConfigurationError
from shared.postgres import door

TRIES: Final = 6
PAUSE_SECONDS: Final = 2.0  # between two tries
IN_THE_WAY: Final = frozenset({"40P01", "55P03"})  # deadlock detected, lock not available in time


def revision_of(engine: sa.Engine) -> str | None:
    """The database's revision; None when it is empty."""
    with door.transaction(engine) as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        revision: str | None = connection.execute(
            sa.text("SELECT version_num FROM alembic_version")
        ).scalar_one_or_none()
        return revision


def main() -> int:
    """Migrate. Returns 0 when the schema is this code's or newer, 2 after an error."""
    try:
        engine = door.make_engine(config.load(required=("DATABASE_URL",)), "migrations")
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 2
    alembic = Config(REPOSITORY / "alembic.ini")
    scripts = ScriptDirectory.from_config(alembic)
    known, head = {script.revision for script in scripts.walk_revisions()}, str(scripts.get_current_head())
    found = revision_of(engine)
    engine.dispose()
    if found is not None and found not in known and found > head:
        print(f"The database stands at {found}, ahead of this code; it is left as it is.")
        return 0
    try:
        _upgrade(alembic)
    except (RolesImpossible, CommandError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _upgrade(alembic: Config) -> None:
    """Migrate to the newest schema. What runs meanwhile may be in the way of all tries but the last."""
    for left in reversed(range(TRIES)):
        try:
            command.upgrade(alembic, "head")
        except DBAPIError as error:
            if not left or door.sqlstate(error) not in IN_THE_WAY:
                raise
            print("Something that runs is in the way of the migrations; trying again.", flush=True)
            time.sleep(PAUSE_SECONDS)
        else:
            return


if __name__ == "__main__":
    sys.exit(main())
