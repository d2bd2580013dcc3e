"""The passwords of the components' database roles (migrations/rights.py), and the addresses with these passwords."""

import json
import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from deploy.parts.layout import BadSetting, Layout, write_file
from migrations.roles import WITH_ROLES, role_of

PASSWORDS: Final = "database_role_passwords"


def passwords(layout: Layout) -> dict[str, str]:
    """The password of each component's role, by component; generated at the first call and then kept in a file.

    Raises:
        BadSetting: the file is not JSON.
    """
    path = layout.secrets / PASSWORDS
    try:
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        raise BadSetting(f"{path} is not JSON: delete it, and new passwords are generated.") from None
    wanted = {component: kept.get(component) or secrets.token_urlsafe(32) for component in WITH_ROLES}
    if wanted != kept:
        write_file(path, json.dumps(wanted) + "\n")
    return wanted


def address_for(component: str, owners_url: str, known: Mapping[str, str]) -> str:
    """The owner's DATABASE_URL with the component's role in place of the owner."""
    parts = urlsplit(owners_url)
    role = role_of(component, parts.username or "")
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{quote(role, safe='')}:{quote(known[component], safe='')}@{place}"))
