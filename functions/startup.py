"""What every function checks before it answers its first request: default deny begins at the start.

The framework binds 0.0.0.0 unless HOST says otherwise, and none of the functions speaks TLS itself: in
`local` and `box` only loopback is allowed, where a gateway stands in front.
"""

from collections.abc import Mapping
from typing import Any, Final

from gunicorn.http import message, parser  # type: ignore[import-untyped]

from shared import deployment
from shared.config import Config
from shared.errors import ConfigurationError

LONGEST_REQUEST_LINE: Final = 65_536
"""Bytes. What is shorter and still too long is refused with a problem document (functions/api/limits.py)."""


class _BoundedRequest(message.Request):  # type: ignore[misc]  # as above
    """A request whose first line ends somewhere."""

    def read_line(self, unreader: Any, buf: bytearray, limit: int = 0) -> Any:
        """As gunicorn's, but there is always a limit."""
        return super().read_line(unreader, buf, limit or LONGEST_REQUEST_LINE)


def bound_request_lines() -> None:
    """Let the server answer 414 to a request line of more than LONGEST_REQUEST_LINE bytes while it still arrives.

    functions-framework switches gunicorn's own limit off and offers no setting for it: a line of 5 MB would be
    looked through from its beginning with every packet, for ten seconds of a core.
    """
    parser.RequestParser.mesg_class = _BoundedRequest


def check_deployment(config: Config, component: str, environ: Mapping[str, str]) -> None:
    """Raises ConfigurationError naming the variable when this function must not start as it is configured."""
    if config["DEPLOYMENT_MODE"] != "cloud":
        _check_host(config["DEPLOYMENT_MODE"], environ.get("HOST", ""))
    deployment.check(config, component)


def _check_host(mode: str, host: str) -> None:
    if not deployment.is_loopback(host):
        shown = repr(host[:100]) if host else "not set, which means every address"
        raise ConfigurationError(f"HOST is {shown}; with DEPLOYMENT_MODE {mode} it must be 127.0.0.1.")
