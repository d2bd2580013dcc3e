"""The child process of `messenger`: one job as JSON on stdin, one result as a line of JSON on stdout.

The result has only codes and numbers, because the library's log texts may hold the address with its secrets.
"""

import ctypes
import json
import logging
import os
import re
import signal
import socket
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any, Final

from shared import typed
from shared.outside.couriers.addresses import AddressRefused, Reach, look_up, may_reach
from shared.outside.outbound import ProxyFault, connected

PR_SET_PDEATHSIG: Final = 1
CONNECT_SECONDS: Final = 10.0
MACHINES_OWN: Final = frozenset({"dbus", "kde", "qt", "glib", "gnome", "macosx", "windows", "syslog", "blink1"})
"""Services that notify this machine and not people."""
PROGRAM: Final = frozenset(
    os.path.realpath(path)
    for path in (
        *(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
        str(Path(__file__).parents[2]),
        "/usr/share/zoneinfo",
    )
)
"""The folders whose files this process may read: Python's, the packages', ours."""
SYSTEM_FILES: Final = frozenset({"/etc/mime.types", "/etc/apache2/mime.types", "/etc/localtime", "/dev/null"})
HTTP_STATUS: Final = re.compile(r"error=(\d{3})\b")
SMTP_STATUS: Final = re.compile(
    r"(?:SMTP\w*(?:Error|Exception|Refused|Disconnected).*?|Socket Exception: .*?)\(?\b([45]\d\d)\b"
)
BY_A_MACHINE: Final = {"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All"}
"""Headers of a mail that ask other machines, such as a vacation's reply or a ticket system, not to answer."""
CODES: Final = (
    ("refused_connection", ("Connection refused", "ConnectionRefused")),
    ("unknown_name", ("Name or service not known", "Temporary failure in name resolution", "No address associated")),
    ("timeout", ("timed out", "Timeout")),
    ("tls", ("SSL", "CERTIFICATE", "STARTTLS")),
)


def main() -> None:
    """Do the job and print its result."""
    job = json.load(sys.stdin)
    _die_with(job["parent"])
    sys.dont_write_bytecode = True
    reach = typed.convert(job["reach"], Reach)
    seen = _Seen()
    if reach.proxy is not None:
        _go_through(reach, seen)
    sys.addaudithook(lambda name, arguments: _judge(name, arguments, reach, seen))
    print(json.dumps(_known(job["url"]) if job.get("check") else _send(job, seen)), flush=True)  # noqa: T201 - its result
    os._exit(0)  # plugins may have left threads running


class _Seen(logging.Handler):
    """Remembers the library's log, and whether it tried to reach a forbidden address."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []
        self.was_refused = False
        self.proxy_fault: ProxyFault | None = None
        self.is_proxied = False  # while a connection by the proxy is made

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage()[:500])


def _go_through(reach: Reach, seen: _Seen) -> None:
    """Let every plugin that speaks HTTP connect as a webhook does: to judged addresses, through the proxy.

    By an environment's variable the proxy would look the names up, and nobody would judge their addresses.
    """
    from urllib3.util import connection  # noqa: PLC0415 - only with a proxy

    def create(place: tuple[str, int], *_: Any, **__: Any) -> socket.socket:
        try:
            addresses = look_up(*place, reach)
            seen.is_proxied = True
            return connected(addresses, place[1], time.monotonic() + CONNECT_SECONDS, reach.proxy)
        except AddressRefused:
            seen.was_refused = True
            raise
        except ProxyFault as error:
            seen.proxy_fault = error
            raise
        finally:
            seen.is_proxied = False

    connection.create_connection = create  # type: ignore[assignment]  # it takes fewer words


def _die_with(parent: int) -> None:
    """End this process together with its parent, even when the parent is killed."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _judge(name: str, arguments: tuple[Any, ...], reach: Reach, seen: _Seen) -> None:
    """Refuse connections to forbidden addresses and access to files, for every plugin."""
    if name == "open" and not _is_part_of_the_program(arguments[0], arguments[2]):
        raise AddressRefused  # a URL may name a template, an attachment or a key
    if name in {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"}:
        raise AddressRefused
    if name not in {"socket.connect", "socket.sendto", "socket.sendmsg"} or _is_resolver(arguments[0], arguments[1]):
        return
    address = arguments[1]
    if seen.is_proxied:  # it goes to the deployer's proxy, or to a judged address
        return
    if not isinstance(address, tuple) or not may_reach(str(address[0]), reach):
        seen.was_refused = True
        raise AddressRefused


def _is_part_of_the_program(path: Any, flags: int) -> bool:
    """Whether this reads a file of Python or a package. A number is an open file."""
    if isinstance(path, int):
        return True
    if flags & (os.O_WRONLY | os.O_RDWR):
        return False
    real = os.path.realpath(os.fsdecode(path))
    return real in SYSTEM_FILES or any(real.startswith(f"{folder}/") for folder in PROGRAM)


def _is_resolver(connection: Any, address: Any) -> bool:
    """Whether this is an unnamed local socket pair. Python's sockets query no resolver."""
    return address is None and connection.family == socket.AF_UNIX


def _plugin(url: str) -> Any:
    """The library's plugin for this URL, or None."""
    import apprise  # noqa: PLC0415 - under the audit hook

    if url.partition(":")[0].lower() in MACHINES_OWN:
        return None
    asset = apprise.AppriseAsset(
        app_id="Signage Fleet",
        app_desc="Signage Fleet",
        app_url="",
        http_redirects=False,
        plugin_paths=[],
        storage_mode=apprise.PersistentStoreMode.MEMORY,
    )
    return apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=True)


def _known(url: str) -> dict[str, Any]:
    return {"known": _plugin(url) is not None}


def _send(job: dict[str, Any], seen: _Seen) -> dict[str, Any]:
    """Send. Returns {code} or {status, http}."""
    library = logging.getLogger("apprise")
    library.addHandler(seen)
    library.setLevel(logging.DEBUG)
    plugin = _plugin(job["url"])
    if plugin is None:
        return {"code": "unknown"}
    if job["url"].lower().startswith("mailto"):
        plugin.headers.update(BY_A_MACHINE)
    try:
        taken = plugin.notify(body=job["text"], title=job["title"], body_format="text")
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        seen.said.append(f"{type(error).__name__}: {error}")
        taken = False
    if taken:
        return {"code": "delivered"}
    if seen.was_refused:
        return {"code": "address_refused"}
    if seen.proxy_fault is not None:
        return {"code": "proxy", "status": seen.proxy_fault.status}
    return _why(" ".join(seen.said))


def _why(said: str) -> dict[str, Any]:
    if found := HTTP_STATUS.search(said):
        return {"status": int(found[1]), "http": True}
    if found := SMTP_STATUS.search(said):
        return {"status": int(found[1]), "http": False}
    return {"code": next((code for code, words in CODES if any(word in said for word in words)), "failed")}


if __name__ == "__main__":
    main()
