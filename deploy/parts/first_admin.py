"""`python -m deploy.parts.first_admin`: the first sign-in and an admin token for scripts.

Run by the runner after the migrations, each time. It adds the user `admin` when there is no user yet,
and issues a token when the kept one does not open this database (a first start, or another database).
Environment: DATABASE_URL, LOCAL_STATE_DIR.
"""

import os
from datetime import datetime

from sqlalchemy import Connection

from deploy.parts.layout import ADMIN, SCRIPTS_KEY, SIGN_IN, Layout, layout_from, write_file
from shared import config
from shared.access import operations
from shared.errors import InvalidIdentity
from shared.postgres import door
from shared.vocabulary import Role


def main() -> int:
    """Do it in one transaction."""
    layout = layout_from(os.environ)
    engine = door.make_engine(config.load(required=("DATABASE_URL",)), "first_admin")
    with door.transaction(engine) as connection:
        now = door.database_now(connection)
        operations.ensure_first_admin(connection, now, ADMIN, layout.secret(SIGN_IN))
        ensure_token(connection, now, layout)
    engine.dispose()
    return 0


def ensure_token(connection: Connection, now: datetime, layout: Layout) -> None:
    """Keep a token in the secrets that opens this database."""
    path = layout.secrets / SCRIPTS_KEY
    try:
        operations.principal_of_token(connection, path.read_text(encoding="utf-8").strip())
    except (InvalidIdentity, FileNotFoundError):
        name = "scripts on this machine"
        row, token = operations.issue_token(connection, now, name, Role.ADMIN, "service", None)
        details = {"name": name, "role": Role.ADMIN.value}
        operations.record_audit(connection, now, "service", "token.create", f"token:{row.id}", "done", None, details)
        write_file(path, token + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
