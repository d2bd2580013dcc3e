"""E-mail and messengers through Apprise, in a child process.

The library has two hundred plugins, obeys options in an address and has no deadline. So this module ends the child at
the deadline, lets it reach only the addresses of `Reach`, and passes the address over a pipe, never as an argument.
"""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from shared.outside.couriers import words
from shared.outside.couriers.addresses import Reach
from shared.outside.couriers.letters import DeliveryAttempt, Letter, Result, as_text

ROOT: Final = Path(__file__).parents[3]
KEPT_ENVIRONMENT: Final = ("PATH", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""The child's whole environment: no proxies of others, which could redirect messages, and none of our secrets."""
CHECK_DEADLINE: Final = timedelta(seconds=20)


def notify(url: str, letter: Letter, reach: Reach, deadline: timedelta) -> DeliveryAttempt:
    """Send the letter's text. Raises nothing."""
    text = as_text(letter.text, letter.facts.get("url"))
    said = _ask({"url": url, "title": as_text(letter.title), "text": text, "key": letter.key}, reach, deadline)
    service = url.partition(":")[0].lower()
    if said is None:
        return DeliveryAttempt(Result.AGAIN, words.receiver_slow(receiver=service))
    return _outcome(said, service)


def is_known(url: str, reach: Reach) -> bool | None:
    """Whether Apprise supports this URL of a service for people; None when the child did not answer."""
    said = _ask({"url": url, "check": True}, reach, CHECK_DEADLINE)
    return None if said is None or "known" not in said else bool(said["known"])


def _ask(job: dict[str, Any], reach: Reach, deadline: timedelta) -> dict[str, Any] | None:
    """The child's result; None when it was ended or returned nothing."""
    environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    command = [sys.executable, "-P", "-m", "shared.outside.couriers.messenger_child"]
    job = {**job, "reach": msgspec.to_builtins(reach), "parent": os.getpid()}
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
    """The child's result, a code and numbers, in our own words."""
    status, code = said.get("status"), said.get("code")
    if code == "delivered":
        return DeliveryAttempt(Result.DELIVERED, words.receiver_took(receiver=service))
    if code == "address_refused":
        return DeliveryAttempt(Result.REFUSED, words.receiver_forbidden())
    if code == "unknown":
        return DeliveryAttempt(Result.REFUSED, words.receiver_misspelt(receiver=service))
    if code == "proxy":
        return DeliveryAttempt(Result.AGAIN, words.proxy_fault(receiver=service, status=status))
    if isinstance(status, int):
        may_pass = status >= 500 or status in {408, 425, 429} if said.get("http") else status < 500
        answered = words.receiver_answered(receiver=service, status=status)
        return DeliveryAttempt(Result.AGAIN if may_pass else Result.REFUSED, answered)
    return DeliveryAttempt(Result.AGAIN, WORDS.get(str(code), words.receiver_did_not_take)(receiver=service))


WORDS: Final = {
    "refused_connection": words.receiver_refused_connection,
    "unknown_name": words.receivers_server_unknown,
    "timeout": words.receiver_slow,
    "tls": words.receiver_without_tls_or_trust,
}
