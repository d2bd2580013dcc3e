"""E-mail and messengers through Apprise, in a child process of their own.

The library brings two hundred plugins along, follows what an address asks of it and has no deadline: the child
is ended at ours, reaches only what `Reach` lets it, and is handed the address over a pipe, never as an argument.
"""

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from shared.outside.couriers.addresses import NEVER, Reach
from shared.outside.couriers.letters import DeliveryAttempt, Letter, Result

ROOT: Final = Path(__file__).parents[3]
KEPT_ENVIRONMENT: Final = ("PATH", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""All that the child sees: no proxy may choose where messages go, and no secret of ours may go along."""
ENDINGS: Final = frozenset(
    {"service", "timer", "socket", "target", "path", "mount", "slice", "scope", "device", "swap", "automount"}
    | {"ppt", "pptx", "odp", "pdf", "png", "jpg", "jpeg", "webp", "gif", "mp4", "webm"}
)
"""Endings of systemd's units and of files that may be uploaded: no host's name ends so."""
_NAMES: Final = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[^\W\d_][\w-]*")
_LOOK_ALIKES: Final = str.maketrans(
    {"@": "\uff20", "<": "\uff1c", ">": "\uff1e", "[": "\uff3b", "]": "\uff3d", "`": "\u02cb", "*": "\u2217"}
)
CHECK_DEADLINE: Final = timedelta(seconds=20)


def notify(url: str, letter: Letter, reach: Reach, deadline: timedelta) -> DeliveryAttempt:
    """Send the letter's words; raises nothing."""
    text = as_text(letter.text, letter.facts.get("url"))
    said = _ask({"url": url, "title": as_text(letter.title), "text": text, "key": letter.key}, reach, deadline)
    service = url.partition(":")[0].lower()
    if said is None:
        return DeliveryAttempt(Result.AGAIN, f"{service} did not answer in time")
    return _outcome(said, service)


def as_text(words: str, link: str | None = None) -> str:
    """Words in which no messenger finds a mention, a link or markup, but for a line that is our own `link`.

    They quote what displays and uploaders call things. Each sign is replaced by one that looks like it.
    """
    return "\n".join(line if line == link else _harmless(line) for line in words.split("\n"))


def _harmless(line: str) -> str:
    return _NAMES.sub(_unlinked, line).replace("//", "\u2215\u2215").translate(_LOOK_ALIKES)


def _unlinked(found: re.Match[str]) -> str:
    """A dotted name as it is, when it ends as files and units do; else without dots that make it a host's name."""
    name = found[0]
    is_ours = name.rpartition(".")[2].lower() in ENDINGS
    return name if is_ours else name.replace(".", "\u2024")


def is_known(url: str, reach: Reach) -> bool | None:
    """Whether Apprise takes this for an address of a service that sends to people; None when it did not answer."""
    said = _ask({"url": url, "check": True}, reach, CHECK_DEADLINE)
    return None if said is None or "known" not in said else bool(said["known"])


def _ask(job: dict[str, Any], reach: Reach, deadline: timedelta) -> dict[str, Any] | None:
    """What the child says, or None when it was ended or says nothing."""
    environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    command = [sys.executable, "-P", "-m", "shared.outside.couriers.messenger_child"]
    job = {**job, "reach": {"loopback": reach.loopback, "private": reach.private}, "parent": os.getpid()}
    try:
        done = subprocess.run(
            command,
            input=json.dumps(job),
            env={**environment, "PYTHONPATH": str(ROOT)},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=deadline.total_seconds(),
            check=False,
        )
        said = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return None
    return said if isinstance(said, dict) else None


def _outcome(said: dict[str, Any], service: str) -> DeliveryAttempt:
    """The child's finding in our own words: it says one of a few codes, and numbers."""
    status, code = said.get("status"), said.get("code")
    if code == "delivered":
        return DeliveryAttempt(Result.DELIVERED, f"{service} took it")
    if code == "address_refused":
        return DeliveryAttempt(Result.REFUSED, NEVER)
    if code == "unknown":
        return DeliveryAttempt(Result.REFUSED, f"this is no address that {service} understands")
    if isinstance(status, int):
        may_pass = status >= 500 or status in {408, 425, 429} if said.get("http") else status < 500
        return DeliveryAttempt(Result.AGAIN if may_pass else Result.REFUSED, f"{status} from {service}")
    return DeliveryAttempt(Result.AGAIN, WORDS.get(str(code), "{service} did not take it").format(service=service))


WORDS: Final = {
    "refused_connection": "{service} refuses the connection",
    "unknown_name": "the server's name of {service} is not known",
    "timeout": "{service} did not answer in time",
    "tls": "{service} does not speak TLS as expected, or its certificate is not trusted",
}
