"""`python -m deploy.parts.first_admin`: makes the first sign-in and an admin token for scripts.

The runner calls it after the migrations, at each start. It adds the user `admin` when there is no user yet, and issues
a token when the stored one is not valid in this database (a first start, or another database). Environment:
DATABASE_URL, LOCAL_STATE_DIR.
"""

import os
from datetime import datetime

from sqlalchemy import Connection

from deploy.parts.layout import ADMIN, GATEWAY_KEY, SCRIPTS_KEY, SIGN_IN, Layout, layout_from, write_file
from shared import config
from shared.access import operations
from shared.access.rules import AuditLine, sealed
from shared.errors import InvalidIdentity
from shared.postgres import door
from shared.vocabulary import Role


def main() -> int:
    """Add the user and issue the token, in one transaction."""
    layout = layout_from(os.environ)
    engine = door.make_engine(config.load(required=("DATABASE_URL",)), "first_admin")
    with door.transaction(engine) as connection:
        now = door.database_now(connection)
        operations.ensure_first_admin(connection, now, ADMIN, layout.secret(SIGN_IN))
        ensure_token(connection, now, layout)
    engine.dispose()
    return 0


def ensure_token(connection: Connection, now: datetime, layout: Layout) -> None:
    """Issue a token and store it among the secrets, unless the stored one is valid in this database.

    A valid one gets the seal of the gateway's key of now.
    """
    path, key = layout.secrets / SCRIPTS_KEY, layout.secret(GATEWAY_KEY)
    try:
        stored = path.read_text(encoding="utf-8").strip()
        operations.principal_of_token(connection, stored)
        token = stored.partition(".")[0]
    except (InvalidIdentity, FileNotFoundError):
        name = "scripts on this machine"
        row, token = operations.issue_token(connection, now, name, Role.ADMIN, "service", None)
        details = {"name": name, "role": Role.ADMIN.value}
        line = AuditLine("service", "token.create", f"token:{row.id}", "done", None, details)
        operations.record_audit(connection, now, line)
    write_file(path, sealed(token, key) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
