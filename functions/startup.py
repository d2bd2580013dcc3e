"""The checks of every function before its first request.

functions-framework binds 0.0.0.0 unless HOST names another address, and no function speaks TLS itself. In the modes
`local` and `box` a gateway stands in front, so only loopback is allowed.
"""

from collections.abc import Mapping
from typing import Any, Final

from gunicorn.http import message, parser  # type: ignore[import-untyped]

from shared import deployment
from shared.config import Config
from shared.errors import ConfigurationError

LONGEST_REQUEST_LINE: Final = 65_536
"""Bytes. functions/api/limits.py refuses shorter lines that are too long, with a problem document."""


class _BoundedRequest(message.Request):  # type: ignore[misc]  # as above
    """A request whose first line has a limit."""

    def read_line(self, unreader: Any, buf: bytearray, limit: int = 0) -> Any:
        """Read a line like gunicorn, but always with a limit."""
        return super().read_line(unreader, buf, limit or LONGEST_REQUEST_LINE)


def bound_request_lines() -> None:
    """Let the server answer 414 as soon as a request line has more than LONGEST_REQUEST_LINE bytes.

    functions-framework switches gunicorn's limit off and has no setting for it. gunicorn searches the whole line again
    with every packet: a line of 5 MB would take ten seconds of a core.
    """
    parser.RequestParser.mesg_class = _BoundedRequest


def check_deployment(config: Config, component: str, environ: Mapping[str, str]) -> None:
    """Check the configuration. Raises ConfigurationError, which names the variable that is wrong."""
    if config["DEPLOYMENT_MODE"] != "cloud":
        _check_host(config["DEPLOYMENT_MODE"], environ.get("HOST", ""))
    deployment.check(config, component)


def _check_host(mode: str, host: str) -> None:
    if not deployment.is_loopback(host):
        shown = repr(host[:100]) if host else "not set, which means every address"
        raise ConfigurationError(f"HOST is {shown}; with DEPLOYMENT_MODE {mode} it must be 127.0.0.1.")
