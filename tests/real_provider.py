"""oidc-provider (npm), a certified OpenID Connect provider, as a process of its own."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import http_answers
from deploy.parts.short_lived import running

PROGRAM: Final = REPOSITORY / "tests" / "oidc_provider"
CLIENT: Final = "signage"
SECRET: Final = "the secret of a client"


@contextmanager
def real_provider(folder: Path, port: int, our_address: str, people: Mapping[str, Any]) -> Iterator[str]:
    """The provider, for this service at `our_address`; `people`: login to claims. Yields its issuer.

    Its host is `localhost`: another site than 127.0.0.1, so that browsers treat the two as strangers.
    """
    installed = folder / "oidc-provider"
    shutil.copytree(PROGRAM, installed, ignore=shutil.ignore_patterns("node_modules"))
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(install, cwd=installed, check=True)
    client = {
        "client_id": CLIENT,
        "client_secret": SECRET,
        "redirect_uris": [f"{our_address}/api/session/provider/callback"],
        "post_logout_redirect_uris": [f"{our_address}/"],
    }
    program = [
        "node",
        str(installed / "provider.mjs"),
        json.dumps({"port": port, "client": client, "people": dict(people)}),
    ]
    with running(program, http_answers(port, "/.well-known/openid-configuration"), folder / "oidc-provider.log"):
        yield f"http://localhost:{port}"
