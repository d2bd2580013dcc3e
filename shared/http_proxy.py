"""The proxy by which connections leave the network: what OUTBOUND_PROXY may be."""

import base64
from urllib.parse import SplitResult, unquote, urlsplit

from msgspec import Struct


class HttpProxy(Struct, frozen=True):
    """An HTTP proxy that understands CONNECT."""

    host: str
    port: int
    authorization: str | None
    """The value of Proxy-Authorization, which is a secret; None: it asks for no login."""

    def __str__(self) -> str:
        """Its address without the login."""
        return f"http://{self.authority(self.host, self.port)}"

    def __repr__(self) -> str:
        return f"HttpProxy({self})"

    @staticmethod
    def authority(host: str, port: int) -> str:
        """Host and port, as a request line names them."""
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def read(value: str) -> HttpProxy:
    """The proxy of an address such as http://user:password@proxy.example:3128. Raises ValueError."""
    parts = urlsplit(value)
    if parts.scheme != "http" or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("expected an address such as http://proxy.example:3128")
    return HttpProxy(parts.hostname, parts.port or 3128, _authorization(parts))


def _authorization(parts: SplitResult) -> str | None:
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()
