"""`signage-display doctor`: check each thing that the agent needs, and print which ones are missing."""

import asyncio
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from typing import Final

from displays.agent import status, vitals
from displays.agent.asking import NotDone, ask
from displays.agent.players import playing
from displays.agent.settings import BadSetting, Places, Settings, load
from displays.agent.user import USER, as_agent
from displays.client.credentials import Credentials, in_words
from shared.outside import tls

CONNECT_SECONDS: Final = 10.0
Check = Iterator[tuple[bool, str]]


def examine(places: Places) -> int:
    """Print a line for each check. Returns 1 when one of them fails, otherwise 0."""
    if os.geteuid() != 0:
        print("Only root sees everything that the agent needs: put sudo before it.")
        return 1
    found = [*_settings(places), *_login(places), *_helper(places), *_journal(), *_machine(places), *_agent(places)]
    for good, text in found:
        print(f"{'ok  ' if good else 'BAD '} {status.shown(text)}")
    return 0 if all(good for good, _ in found) else 1


def _settings(places: Places) -> Check:
    try:
        settings = load(places.configuration)
    except BadSetting as error:
        yield False, str(error)
        return
    yield from _units(settings)
    plays = playing(places.root)
    if plays is not None and not (settings.has_player and settings.devtools_port):
        yield True, " ".join(plays.advice())


def _units(settings: Settings) -> Check:
    for unit in settings.watched:
        state = _said("systemctl", "show", "--property=LoadState,ActiveState", unit)
        named = dict(line.partition("=")[::2] for line in state.splitlines())
        loaded = named.get("LoadState") == "loaded"
        yield loaded, f"unit {unit}: {named.get('ActiveState') if loaded else 'there is no such unit'}"


def _login(places: Places) -> Check:
    try:
        with as_agent():
            login = Credentials.load(places.credentials)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        yield False, f"login: {places.credentials} cannot be read ({type(error).__name__}): enrol this display"
        return
    yield True, f"login: {login.uuid}"
    yield _broker(login)
    yield _gateway(login)


def _broker(login: Credentials) -> tuple[bool, str]:
    where = f"broker: {login.host}:{login.port}"
    try:
        with socket.create_connection((login.host, login.port), CONNECT_SECONDS) as connection:
            if login.tls:
                context = tls.trusting(login.ca_pem)
                context.wrap_socket(connection, server_hostname=login.host).close()
    except (OSError, ValueError) as error:
        return False, f"{where} cannot be reached: {in_words(error) if isinstance(error, OSError) else error}"
    return True, f"{where} answers"


def _gateway(login: Credentials) -> tuple[bool, str]:
    where = f"gateway: {login.url or 'none is known'}"
    if not login.url.startswith(("http://", "https://")):
        return False, where
    question = urllib.request.Request(login.url, method="HEAD")  # noqa: S310 - HTTP, as above
    try:
        urllib.request.urlopen(question, timeout=CONNECT_SECONDS, context=login.trust()).close()  # noqa: S310  # nosec B310 - as above
    except urllib.error.HTTPError:
        pass  # any answer is one
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        return False, f"{where} does not answer: {in_words(reason) if isinstance(reason, OSError) else reason}"
    return True, f"{where} answers"


def _helper(places: Places) -> Check:
    try:
        asyncio.run(ask(places.helper, "ping"))
        yield True, "helper: answers"
    except NotDone as error:
        yield False, f"helper: {error}; restart, reboot and shutdown cannot be carried out"


def _journal() -> Check:
    can = bool(_said("runuser", "-u", USER, "-G", "systemd-journal", "--", "journalctl", "-q", "-n1"))
    yield can, "journal: " + ("can be read" if can else "the agent's user cannot read it; no logs are sent")


def _machine(places: Places) -> Check:
    wrong = vitals.troubles(places.root, places.state)
    for meaning in wrong.values():
        yield False, f"machine: {meaning}"
    if not wrong:
        yield True, "machine: clock, disk and power are well"


def _agent(places: Places) -> Check:
    known = status.read(places.status)
    if known is None:
        yield False, "agent: it does not run (systemctl status signage-display)"
        return
    heard = known["up"] and known["heard_at"] is not None
    yield heard, "agent: " + status.words(known, time.monotonic())[1].removeprefix("service   ")


def _said(*command: str) -> str:
    """The output of a command; empty when it fails. It has no terminal: into root's the agent's user could type."""
    try:
        return subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CONNECT_SECONDS,
            start_new_session=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
