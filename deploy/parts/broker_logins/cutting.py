"""End the connection of a display whose login ended, on a broker that knows no logins itself.

Such a broker asks when a client connects or uses a topic for the first time, and keeps the answer until the connection
ends. In MQTT a second connection with the same client id ends the first. So this process connects under the display's
name, with a password that is valid for this one connection, and ends the display's session.
"""

import secrets
import time
from collections.abc import Iterable
from typing import Final

from shared.outside.mqtt import connack
from shared.structured_log import event

SECONDS: Final = 5.0  # for one connection
AGAIN_SECONDS: Final = 10.0  # after a connection that the broker did not take: logins must be read meanwhile
MOST_AT_ONCE: Final = 50  # connections in one round, so that the logins are read again soon


class CuttingOff:
    """The displays whose connections must end, and the passwords that are valid for that."""

    def __init__(self, url: str) -> None:
        """`url` is the broker's listener for displays or services: MQTT_URL."""
        self._url = url
        self._owed: dict[str, None] = {}  # in their order
        self._passes: dict[str, str] = {}
        self._again_at = 0.0  # monotonic seconds

    def owe(self, names: Iterable[str]) -> None:
        """The connections of these displays must end."""
        self._owed.update(dict.fromkeys(names))

    def is_pass(self, user: str, password: str) -> bool:
        """Whether this is the password of the connection that ends this display's."""
        known = self._passes.get(user)
        return known is not None and secrets.compare_digest(known.encode(), password.encode())

    def is_busy_with(self, user: str) -> bool:
        """Whether the broker may ask for this display now because of us."""
        return user in self._passes

    def cut(self) -> None:
        """End the connections that are owed. One that the broker did not end stays owed."""
        if time.monotonic() < self._again_at:
            return
        for name in list(self._owed)[:MOST_AT_ONCE]:
            self._passes[name] = secrets.token_urlsafe(32)
            try:
                is_over = connack(self._url, SECONDS, name, self._passes[name]) == 0
            finally:
                del self._passes[name]
            del self._owed[name]
            if not is_over:
                self._owed[name] = None  # behind the others
                self._again_at = time.monotonic() + AGAIN_SECONDS  # the broker is away, or refuses
                return
            event("cut_off", "the connection of a display without a login was ended", client=name)
