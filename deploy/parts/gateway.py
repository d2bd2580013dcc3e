"""The gateway: nginx serves the dashboard's files and `/api/` at one address, like the load balancer in the cloud.

`nginx/` has the configuration. This module fills in addresses, ports and limits, and starts Debian's nginx.
"""

import hashlib
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from logging import WARNING
from pathlib import Path
from typing import Final

from deploy.parts import display_package, guardian
from deploy.parts.config_file import INSIDE, Listener, filled
from deploy.parts.layout import REPOSITORY, write_file
from deploy.parts.probes import Probe, http_answers
from deploy.parts.short_lived import running
from shared.structured_log import event

FILES: Final = Path(__file__).with_name("nginx")
STOP_SIGNAL: Final = signal.SIGTERM  # at once; SIGQUIT would wait for open connections
UPLOADS_OF_ONE_ADDRESS: Final = 4  # parallel uploads; people behind one address share them
UPLOAD_ROOM_BYTES: Final = 10_000_000  # added to the largest file; the api's own limit, UPLOAD_ENVELOPE, is narrower
DISPLAYS_OF_ONE: Final = 500  # parallel connections of browsers from one address
STRANGERS_AT_ONCE: Final = 50  # sign-ins and enrolments of one address, before each has to wait its turn
STATUS_PAGES_AT_ONCE: Final = 100  # readers of status pages at one address, before each has to wait its turn
DISPLAYS_QUIET_SECONDS: Final = 120  # twice the keepalive of the browsers' client
BROWSER_CLIENT: Final = REPOSITORY / "displays" / "browser"
NOBODY_LISTENS: Final = 9  # the discard port
JSON_BODY_BYTES: Final = 1024 * 1024  # largest body that is not an upload: functions.api.limits.BODY_LIMIT
PUBLIC_BODY_BYTES: Final = 16 * 1024  # largest one of a sign-in or enrolment: functions.api.limits.PUBLIC_BODY_LIMIT


class GatewayUnusable(Exception):
    """nginx cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Gateway:
    """The folder, ports and limits of one nginx."""

    run: Path  # its folder is in this one
    port: int
    api_port: int
    upload_limit_bytes: int = 200_000_000
    dashboard: Path = REPOSITORY / "dashboard"
    api_timeout_seconds: int = 75
    displays_port: int = NOBODY_LISTENS  # the displays' door for browsers: deploy.parts.websocket_door
    ca_file: Path | None = None  # the CA of its certificate, if it is not a public one
    key: str = field(default_factory=secrets.token_urlsafe)  # of the seals by which it knows callers

    @property
    def folder(self) -> Path:
        """The finished configuration, the process id and temporary files."""
        return self.run / "nginx"


def files(gateway: Gateway, listener: Listener = INSIDE) -> dict[str, str]:
    """Every file of the configuration by its name; nginx.conf includes the others."""
    address = f"[{listener.address}]" if ":" in listener.address else listener.address
    main = filled(
        FILES / "nginx.conf",
        folder=gateway.folder,
        listen=f"{address}:{gateway.port}" + (" ssl" if listener.tls else ""),
        names=" ".join(listener.names),
        dashboard=gateway.dashboard,
        api_port=gateway.api_port,
        api_timeout_seconds=gateway.api_timeout_seconds,
        body_bytes=JSON_BODY_BYTES,
        public_body_bytes=PUBLIC_BODY_BYTES,
        upload_bytes=gateway.upload_limit_bytes,
        upload_body_bytes=gateway.upload_limit_bytes + UPLOAD_ROOM_BYTES,
        uploads_of_one_address=UPLOADS_OF_ONE_ADDRESS,
        displays_port=gateway.displays_port,
        displays_of_one=DISPLAYS_OF_ONE,
        displays_quiet_seconds=DISPLAYS_QUIET_SECONDS,
        strangers_at_once=STRANGERS_AT_ONCE,
        key=gateway.key,
        status_pages_at_once=STATUS_PAGES_AT_ONCE,
        displays=BROWSER_CLIENT,
    )
    fixed = {name: filled(FILES / name) for name in ("headers.conf", "problem.conf")}
    return {"nginx.conf": main, "tls.conf": listener.tls_lines(FILES / "tls.conf"), **fixed}


def prepare(gateway: Gateway, listener: Listener = INSIDE) -> None:
    """Write the configuration into nginx's folder."""
    for folder in (gateway.run, gateway.folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    guardian.own(gateway.folder, system_user())
    for name, text in files(gateway, listener).items():
        write_file(gateway.folder / name, text)
    _offer_the_agent(gateway.folder / "display", gateway.ca_file if listener.tls else None)


def _offer_the_agent(folder: Path, ca_file: Path | None) -> None:
    """Build the agent's package for `/display/`. If that fails, `/display/` answers 404 and everything else works."""
    (folder / "ca.pem").unlink(missing_ok=True)
    try:
        display_package.build(folder)
    except display_package.Unbuildable as error:
        event("no_display_package", "displays cannot install the agent from here", WARNING, why=str(error))
        return
    if ca_file is not None:
        _offer_the_ca(folder, ca_file)
    for path in (folder, *folder.iterdir()):
        guardian.own(path, system_user())


def _offer_the_ca(folder: Path, ca_file: Path) -> None:
    """Serve the CA of a certificate that no public CA signed, and its hash, which the dashboard shows."""
    sums = folder / "SHA256SUMS"
    try:
        content = ca_file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        event("no_display_ca", "displays cannot learn the CA of the gateway from here", WARNING, why=str(error))
        return
    write_file(folder / "ca.pem", content, 0o644)
    write_file(sums, f"{sums.read_text()}{hashlib.sha256(content.encode()).hexdigest()}  ca.pem\n", 0o644)


def system_user() -> str:
    """The user that nginx runs as, when root starts it and user namespaces are forbidden."""
    return guardian.existing_user("www-data", "nobody")


def command(gateway: Gateway) -> tuple[str, ...]:
    """The gateway's command line.

    Raises:
        GatewayUnusable: nginx is not installed.
    """
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        raise GatewayUnusable("There is no nginx: install the Debian package nginx-light.")
    return (program, "-p", str(gateway.folder), "-e", "stderr", "-c", str(gateway.folder / "nginx.conf"))


def answers(gateway: Gateway) -> Probe:
    """Whether the dashboard's first page is served."""
    return http_answers(gateway.port, "/", 200)


@contextmanager
def serve(gateway: Gateway, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the gateway for the length of the block."""
    prepare(gateway)
    with running(command(gateway), answers(gateway), log, stop_signal=STOP_SIGNAL, user=system_user()) as process:
        yield process
