"""`python -m deploy.box.first_person EMAIL`: the first admin where people come by Identity-Aware Proxy.

The proxy says who somebody is, the service what they may: the user whose name is the e-mail address. This adds the
first, while there is none; the others are added in the dashboard. Environment: DATABASE_URL.
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
    """0 when the person was added, 1 when there are users already, 2 when it cannot be done."""
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
