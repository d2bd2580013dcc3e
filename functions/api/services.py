"""The external services that routes use. Each is built at its first use and then kept.

So a cold start that answers `/api/health/live` opens no connection and imports neither grpc nor paho.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import Engine

from shared.config import Config
from shared.conversions import operations as conversions
from shared.outside.media_volume import MediaVolume
from shared.outside.task_queue import TaskQueue
from shared.postgres import door

if TYPE_CHECKING:
    from shared.outside.mqtt import Publisher
    from shared.outside.oidc import Proxy
    from shared.outside.people_provider import PeopleProvider

T = TypeVar("T")
PROVIDER_CALLBACK: Final = "/api/session/provider/callback"
"""Where the provider sends people back, below PUBLIC_URL. It is registered there, so it never changes."""


class Services:
    """The database, the media volume, the task queue and the broker of one process."""

    def __init__(self, config: Config, engine: Engine | None = None) -> None:
        """Only tests give an `engine`."""
        self.config = config
        self._lock = threading.RLock()
        self._built: dict[str, Any] = {} if engine is None else {"engine": engine}

    @property
    def engine(self) -> Engine:
        """The connection pool to Postgres."""
        return self.once("engine", lambda: door.make_engine(self.config, "api"))

    @property
    def media_volume(self) -> MediaVolume:
        """The mounted media volume."""
        return self.once("media_volume", lambda: MediaVolume(self.config["MEDIA_ROOT"]))

    @property
    def task_queue(self) -> TaskQueue:
        """The queue `conversions`; grpc is imported when a task is enqueued."""
        return self.once("task_queue", lambda: conversions.queue_of(self.config))

    @property
    def publisher(self) -> "Publisher":
        """The one connection of this process to the broker, opened when a message is published."""
        return self.once("publisher", self._make_publisher)

    @property
    def people_proxy(self) -> "Proxy | None":
        """The proxy that asserts people's e-mail addresses; None where people sign in with a password."""
        proxy: Proxy | None = self.once("people_proxy", self._make_people_proxy)
        return proxy

    def _make_people_proxy(self) -> "Proxy | None":
        from shared.outside import oidc  # noqa: PLC0415 - cold start

        config = self.config
        if not config["IAP_AUDIENCE"]:
            return None
        keys = oidc.KeySet(oidc.PROXY_KEYS_URL, oidc.PEOPLE_ALGORITHM)
        return oidc.Proxy(config["IAP_AUDIENCE"], oidc.PROXY_ISSUER, keys)

    @property
    def people_provider(self) -> "PeopleProvider | None":
        """The OpenID Connect provider at which people sign in; None without one."""
        provider: PeopleProvider | None = self.once("people_provider", self._make_people_provider)
        return provider

    def _make_people_provider(self) -> "PeopleProvider | None":
        from shared.outside.people_provider import PeopleProvider, ProviderClient  # noqa: PLC0415 - cold start

        config = self.config
        if not config["SSO_ISSUER"]:
            return None
        return PeopleProvider(
            ProviderClient(
                config["SSO_ISSUER"],
                config["SSO_CLIENT_ID"],
                config["SSO_CLIENT_SECRET"],
                config["SSO_SCOPES"],
                config["PUBLIC_URL"] + PROVIDER_CALLBACK,
                config["OUTBOUND_PROXY"] or None,
            )
        )

    def _make_publisher(self) -> "Publisher":
        from shared.outside.mqtt import Publisher  # noqa: PLC0415 - cold start

        return Publisher.from_config(self.config)

    def once(self, name: str, build: Callable[[], T]) -> T:
        """The object of this name; `build` makes it at the first call."""
        with self._lock:
            if name not in self._built:
                self._built[name] = build()
            built: T = self._built[name]
            return built
