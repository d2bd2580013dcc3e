"""`python -m deploy.box.setup`: what must be there before the first service of a machine starts; safe to repeat.

Folders, one file for each generated secret (kept when it is there), the key that signs identity tokens, and the
address of the Postgres for its owner and each component: DATABASE_URL where it is given, else a database of our name
on loopback. Refuses a certificate with which the doors could not be opened.
"""

import os
import sys

from deploy.box.box import DATABASE, Box
from deploy.parts import broker as mosquitto
from deploy.parts import database_roles, identity
from deploy.parts.layout import ADMIN, LOOPBACK, SIGN_IN, BadSetting, usable, write_file
from deploy.parts.machine import QUEUE_SECRET
from shared.errors import ConfigurationError


def set_up(box: Box, database_url: str = "") -> None:
    """Make what is missing. Raises BadSetting, naming the variable that stands in the way."""
    box.check_tls()
    layout = box.layout
    with usable("LOCAL_STATE_DIR", layout.root):
        for folder in (layout.run, layout.data, layout.secrets):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with usable("MEDIA_ROOT", box.media_root):
        box.media_root.mkdir(mode=0o750, parents=True, exist_ok=True)
    for user in mosquitto.SERVICES:
        layout.secret(f"mqtt_{user}_password")
    layout.secret(SIGN_IN)
    layout.secret("signing_key")
    layout.secret(QUEUE_SECRET)
    identity.load_or_create_key(identity.key_path(box.environ))
    own = f"postgresql://{DATABASE}:{layout.secret('database_password')}@{LOOPBACK}:{box.ports['POSTGRES_PORT']}/{DATABASE}"
    owners_url = database_url or own
    write_file(box.database_url_file(), owners_url + "\n")
    passwords = database_roles.passwords(layout)
    for component in passwords:
        address = database_roles.address_for(component, owners_url, passwords)
        write_file(box.database_url_file(component), address + "\n")


def main() -> int:
    """0 when everything is there, 2 with the reason when it cannot be."""
    try:
        box = Box(os.environ)
        set_up(box, os.environ.get("DATABASE_URL", ""))
    except (BadSetting, ConfigurationError, OSError) as error:
        print(f"setup: {error}", file=sys.stderr)
        return 2
    print(f"What is kept stands in {box.layout.root}. First sign-in, once everything runs:")
    print(f"  https://{box.host}/  {ADMIN} / the password in {box.layout.secrets / SIGN_IN}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
