"""oidc-provider (npm), a certified OpenID Connect provider, as a process of its own. `make test` has installed it."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import http_answers
from deploy.parts.short_lived import running

PROGRAM: Final = "tests/oidc_provider"
CLIENT: Final = "signage"
SECRET: Final = "the secret of a client"


@contextmanager
def real_provider(folder: Path, port: int, our_address: str, people: Mapping[str, Any]) -> Iterator[str]:
    """The provider, for this service at `our_address`; `people`: login to claims. Yields its issuer.

    Its host is `localhost`: another site than 127.0.0.1, so that browsers treat the two as strangers.
    """
    subprocess.run(["make", "--silent", f"{PROGRAM}/node_modules/.installed"], cwd=REPOSITORY, check=True)
    client = {
        "client_id": CLIENT,
        "client_secret": SECRET,
        "redirect_uris": [f"{our_address}/api/session/provider/callback"],
        "post_logout_redirect_uris": [f"{our_address}/"],
    }
    program = [
        "node",
        str(REPOSITORY / PROGRAM / "provider.mjs"),
        json.dumps({"port": port, "client": client, "people": dict(people)}),
    ]
    with running(program, http_answers(port, "/.well-known/openid-configuration"), folder / "oidc-provider.log"):
        yield f"http://localhost:{port}"
