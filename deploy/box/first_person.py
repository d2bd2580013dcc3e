"""`python -m deploy.box.first_person EMAIL`: adds the first admin when people sign in at Identity-Aware Proxy.

The proxy authenticates a person; the service authorizes the user whose name is the person's e-mail address. This adds
the first user, if there is none; an admin adds the others in the dashboard. Environment: DATABASE_URL.
"""

import re
import secrets
import sys
from collections.abc import Sequence
from typing import Final

from shared import config
from shared.access import operations
from shared.errors import ConfigurationError
from shared.postgres import door

EMAIL: Final = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")


def main(arguments: Sequence[str]) -> int:
    """Add the person. Returns 0 when they were added, 1 when there are users already, 2 on an error."""
    if len(arguments) != 1 or not EMAIL.fullmatch(arguments[0]):
        print("Name one e-mail address, as the proxy knows the person.", file=sys.stderr)
        return 2
    try:
        engine = door.make_engine(config.load(required=("DATABASE_URL",)), "first_person")
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 2
    unknown_to_everybody = secrets.token_urlsafe(48)  # nobody signs in with a password here
    with door.transaction(engine) as connection:
        now = door.database_now(connection)
        added = operations.ensure_first_admin(connection, now, arguments[0].lower(), unknown_to_everybody)
    engine.dispose()
    print(f"{arguments[0]} is an admin now." if added else "There are users already: an admin adds others.")
    return 0 if added else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
