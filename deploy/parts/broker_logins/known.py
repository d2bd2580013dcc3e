"""The logins that may be used now, kept in memory and read again and again from Postgres.

While Postgres is away the last known logins stay valid: nobody new gets in, and the fleet is not thrown out. A process
that starts while Postgres is away knows nobody, and refuses everybody until it comes back.
"""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from deploy.parts.broker_rights import SERVICES, URGENT, BrokerRights, of_display, of_services
from shared.access import enrolment_store
from shared.access.rules import mosquitto_matches
from shared.errors import ConfigurationError
from shared.postgres.door import snapshot
from shared.structured_log import event

CUT_OFF_AGAIN: Final = timedelta(days=7)
"""At a start, logins that ended within this time are cut off again: nobody may have done it while we were away."""


def service_logins(file: Path | None) -> dict[str, str]:
    """User name -> hash, of a file in mosquitto's format. Raises ConfigurationError."""
    if file is None:
        return {}
    try:
        lines = file.read_text(encoding="utf-8").split()
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"SERVICES_PASSWORD_FILE: {file} cannot be read.") from error
    found = dict(line.split(":", 1) for line in lines if ":" in line)
    ours = {*SERVICES, URGENT}
    if len(found) != len(lines) or not set(found) <= ours or not all(one.startswith("$7$") for one in found.values()):
        raise ConfigurationError(f"SERVICES_PASSWORD_FILE: {file} must have lines user:$7$… of {', '.join(ours)}.")
    return found


class KnownLogins:
    """Who may sign in, and the rights of each."""

    def __init__(self, engine: Engine, root: str, services: Mapping[str, str]) -> None:
        """`root` is MQTT_TOPIC_ROOT; `services` are those of `service_logins`."""
        self.is_read = False  # the displays' logins were read at least once
        self._engine = engine
        self._root = root
        self._services = services
        self._rights = of_services(root)
        self._displays: Mapping[str, str] = {}
        self._digest: str | None = None

    def look(self) -> set[str]:
        """Read the displays' logins. Returns the displays whose login ended or changed: their connections must end.

        Raises:
            SQLAlchemyError: the database cannot be used; retry later.
        """
        with snapshot(self._engine) as connection:  # digest and logins must belong together
            digest = enrolment_store.live_logins_digest(connection)
            if digest == self._digest:
                return set()
            logins = enrolment_store.live_logins(connection)
            ended = set() if self.is_read else set(enrolment_store.ended_logins(connection, CUT_OFF_AGAIN))
        before, now = self._displays, {login.client_uuid: login.password_hash for login in logins}
        self._displays, self._digest, self.is_read = now, digest, True
        event("logins_read", "the displays' logins changed", logins=len(now))
        return ended | {name for name, hashed in before.items() if now.get(name) != hashed}

    def matches(self, user: str, password: str) -> bool:
        """Whether this is the password of a user who may sign in."""
        stored = self._services.get(user) or self._displays.get(user)
        return stored is not None and mosquitto_matches(password, stored)

    def rights(self, user: str) -> BrokerRights | None:
        """The user's rights; None when the user may not sign in."""
        if user in self._services:
            return self._rights[user]
        return of_display(self._root, user) if user in self._displays else None

    def is_service(self, user: str) -> bool:
        """Whether this is a user of ours, or may be: no display has such a name."""
        return user in self._rights
