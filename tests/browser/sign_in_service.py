"""The sign-in service of the stack: a real OpenID Connect provider of another site, beside passwords."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from deploy.parts.probes import free_port
from tests.real_provider import CLIENT, SECRET, real_provider

SIGN_IN_SERVICE: Final = "Example Login"
PEOPLE: Final = {
    "cora": {"groups": ["staff", "signage-operators"], "shops": ["Rome"]},
    "ada": {"groups": ["signage-admins"], "shops": ["*"]},
    "eve": {"groups": ["staff"]},
}


@contextmanager
def sign_in_service(folder: Path) -> Iterator[dict[str, str]]:
    """Run the service. Yields the settings of a stack at which people sign in by it."""
    gateway = free_port()
    with real_provider(folder, free_port(), f"http://127.0.0.1:{gateway}", PEOPLE) as issuer:
        yield {
            "GATEWAY_PORT": str(gateway),
            "SSO_ISSUER": issuer,
            "SSO_NAME": SIGN_IN_SERVICE,
            "SSO_CLIENT_ID": CLIENT,
            "SSO_CLIENT_SECRET": SECRET,
            "SSO_ROLES": json.dumps({"signage-admins": "admin", "signage-operators": "operator"}),
            "SSO_SITES_CLAIM": "shops",
        }
