"""`python -m deploy.box.secret_manager FILE=SECRET ...`: fetches secrets from Google's Secret Manager into files.

The broker's machine in the cloud uses it, because its programs read files. SECRET is
`projects/<p>/secrets/<s>/versions/<v>`; FILE is written atomically, with mode 0600. It uses the machine's service
account, whose token comes from the metadata server: there is no key on the disk that could be stolen.
"""

import base64
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import requests

from deploy.parts.layout import write_file

METADATA_URL: Final = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"
SECRETS_URL: Final = "https://secretmanager.googleapis.com/v1/"
TIMEOUT: Final = (5.0, 10.0)  # seconds to connect, and to wait for bytes


def fetch(session: requests.Session, metadata_url: str, secrets_url: str, names: Sequence[str]) -> list[bytes]:
    """The values of these secrets. Raises requests' errors and ValueError."""
    token = session.get(metadata_url, headers={"Metadata-Flavor": "Google"}, timeout=TIMEOUT)
    token.raise_for_status()
    bearer = {"Authorization": f"Bearer {token.json()['access_token']}"}
    values = []
    for name in names:
        answer = session.get(f"{secrets_url}{name}:access", headers=bearer, timeout=TIMEOUT)
        answer.raise_for_status()
        values.append(base64.b64decode(answer.json()["payload"]["data"], validate=True))
    return values


def main(arguments: Sequence[str]) -> int:
    """Fetch all values, then write the files. Returns 0 when every file is written, 1 when none is, 2 for bad usage."""
    pairs = [argument.partition("=")[::2] for argument in arguments]
    if not pairs or not all(file and secret for file, secret in pairs):
        print(__doc__, file=sys.stderr)
        return 2
    addresses = (os.environ.get("METADATA_URL") or METADATA_URL, os.environ.get("SECRETS_URL") or SECRETS_URL)
    try:
        with requests.Session() as session:
            session.trust_env = False
            values = fetch(session, *addresses, [secret for _, secret in pairs])
    except (requests.RequestException, ValueError, KeyError) as error:
        print(f"the secrets could not be fetched ({type(error).__name__})", file=sys.stderr)
        return 1
    for (file, _), value in zip(pairs, values, strict=True):
        Path(file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(Path(file), value.decode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
