"""`python -m deploy.box.setup`: prepares a machine before its first service starts; safe to repeat.

It makes the folders, a file for each generated secret (an existing one stays), the key that signs identity tokens, and
the files with the address of Postgres for its owner and each component. The address is DATABASE_URL, or else the
database `signage` on loopback. It refuses a certificate that the services could not use. With BOX_OWN_CA_FILE it makes
one where there is none (deploy/box/own_ca.py).

With Docker each container sees a folder of its own, `secrets-of/COMPONENT`, beside `secrets`: the component's secrets
are copied there. GOTENBERG_SECONDS: the time that compose gives Gotenberg for a deck.
"""

import os
import sys

from deploy.box import own_ca
from deploy.box.box import DATABASE, Box
from deploy.parts import broker as mosquitto
from deploy.parts import database_roles, identity
from deploy.parts.components import OF_A_BOX
from deploy.parts.layout import ADMIN, GATEWAY_KEY, LOOPBACK, SIGN_IN, BadSetting, usable, write_file
from shared.errors import ConfigurationError


def set_up(box: Box, database_url: str = "") -> None:
    """Make the missing folders and files. Raises BadSetting, which names the wrong variable."""
    layout, seconds = box.layout, str(box.config["CONVERSION_DEADLINE_SECONDS"])
    if box.environ.get("GOTENBERG_SECONDS", seconds) != seconds:
        raise BadSetting("CONVERSION_DEADLINE_SECONDS: compose does not see it: ln -s signage.env .env")
    with usable("LOCAL_STATE_DIR", layout.root):
        layout.secrets.mkdir(mode=0o700, parents=True, exist_ok=True)
        layout.secrets.chmod(0o700)  # Docker may have made it
    if ca := box.own_ca_file:
        own_ca.certify(box.host, ca, layout.secrets / "ca_key.pem", box.certificate, box.key)
    box.check_tls()
    with usable("LOCAL_STATE_DIR", layout.root):
        for folder in (layout.run, layout.data):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with usable("MEDIA_ROOT", box.media_root):
        box.media_root.mkdir(mode=0o750, parents=True, exist_ok=True)
    for user in mosquitto.SERVICES:
        layout.secret(f"mqtt_{user}_password")
    layout.secret(SIGN_IN)
    layout.secret(GATEWAY_KEY)
    layout.secret("signing_key")
    layout.secret("queue_secret")
    layout.secret("sso_client_secret", lambda: "")  # the provider makes it, and people write it into the file
    identity.load_or_create_key(identity.key_path(box.environ))
    own = f"postgresql://{DATABASE}:{layout.secret('database_password')}@{LOOPBACK}:{box.ports['POSTGRES_PORT']}/{DATABASE}"
    owners_url = database_url or own
    write_file(box.database_url_file(), owners_url + "\n")
    passwords = database_roles.passwords(layout)
    for component in passwords:
        address = database_roles.address_for(component, owners_url, passwords)
        write_file(box.database_url_file(component), address + "\n")
    hand_out(box)


def hand_out(box: Box) -> None:
    """Copy each component's secrets into its folder of `secrets-of`, where there is one."""
    wanted = {name: component.all_secrets for name, component in OF_A_BOX.items()} | {"postgres": ["database_password"]}
    for name, secrets in wanted.items():
        folder = box.layout.root / "secrets-of" / name
        if folder.is_dir():
            folder.chmod(0o700)
            for secret in secrets:
                write_file(folder / secret, (box.layout.secrets / secret).read_text(encoding="utf-8"))


def main() -> int:
    """Set up. Returns 0, or 2 after an error, which is printed."""
    try:
        box = Box(os.environ)
        set_up(box, os.environ.get("DATABASE_URL", ""))
    except (BadSetting, ConfigurationError, OSError) as error:
        print(f"setup: {error}", file=sys.stderr)
        return 2
    print(f"All state is in {box.layout.root}. First sign-in, once everything runs:")
    print(f"  https://{box.host}/  {ADMIN} / the password in {box.layout.secrets / SIGN_IN}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
