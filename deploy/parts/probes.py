"""Probes that tell whether a service answers. Each asks once, waits at most a second, and never raises."""

import errno
import http.client
import json
import os
import random
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from deploy.parts.layout import LOOPBACK

Probe = Callable[[], bool]
TIMEOUT_SECONDS: Final = 1.0
CHOSEN_PORTS: Final = (20_000, 32_000)  # net.ipv4.ip_local_port_range begins at 32,768
MOST_TRIES: Final = 100
MOST_RESERVED: Final = 100
_reserved: Final = deque[int]()  # file descriptors

MQTT_CONNACK: Final = 0x20
MQTT_NOT_AUTHORIZED: Final = 0x87


def port_is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen on this port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A random port that is free now, and that no process on this machine was given by this function of late.

    It lies below the ports that Linux gives to outgoing connections, so that none of these takes it. Raises OSError
    when no free port is found.
    """
    for _ in range(MOST_TRIES):
        port = random.SystemRandom().randrange(*CHOSEN_PORTS)
        if port_is_free(port) and _reserve(port):
            return port
    raise OSError(errno.EADDRINUSE, f"none of {MOST_TRIES} ports was free")


def _reserve(port: int) -> bool:
    """Reserve a port until this process ends or has reserved `MOST_RESERVED` others. False when it is reserved.

    The reservation is a name of a Unix socket that is in no folder, so the kernel ends it with the process.
    """
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        mark.bind(f"\0signage-fleet-port-{port}")
    except OSError:
        mark.close()
        return False
    _reserved.append(mark.detach())
    if len(_reserved) > MOST_RESERVED:
        os.close(_reserved.popleft())
    return True


def accepts(port: int) -> Probe:
    """Whether a server accepts connections on this port."""

    def ask() -> bool:
        try:
            socket.create_connection((LOOPBACK, port), TIMEOUT_SECONDS).close()
        except OSError:
            return False
        return True

    return ask


def http_answers(port: int, path: str, *statuses: int) -> Probe:
    """Whether GET `path` is answered with one of `statuses`; with none given, with anything below 500."""

    def ask() -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request("GET", path)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        return status in statuses if statuses else status < 500

    return ask


def converter_health(port: int) -> dict[str, Any] | None:
    """The converter's answer at /health, up or down; None without an answer."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/health")
        health = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return health if isinstance(health, dict) else None


def converter_is_settled(port: int) -> Probe:
    """Whether the converter is up, or down for good: without a sandbox everything else works."""

    def ask() -> bool:
        health = converter_health(port)
        return health is not None and not health["starting"]

    return ask


def mqtt_refuses_anonymous(port: int) -> Probe:
    """Whether the broker answers and refuses a CONNECT without a login."""
    return lambda: connect_code(port) == MQTT_NOT_AUTHORIZED


def connect_code(  # nosec B107 - nobody's password: an anonymous CONNECT has none
    port: int, username: str | None = None, password: str = "", session_seconds: int = 0
) -> int | None:
    """The reason code that the broker answers an MQTT 5 CONNECT with (0: accepted); None without an answer.

    With `session_seconds` it resumes the session of this user name (its client id), with that session expiry.
    """
    login = b"" if username is None else _string(username) + _string(password)
    flags = (0 if session_seconds else 0x02) | (0 if username is None else 0xC0)  # clean start; name and password
    properties = b"\x05\x11" + struct.pack("!I", session_seconds) if session_seconds else b"\x00"
    variable = struct.pack("!H4sBBH", 4, b"MQTT", 5, flags, 10) + properties
    body = variable + _string(username if session_seconds and username else f"probe-{username}") + login
    try:
        with socket.create_connection((LOOPBACK, port), TIMEOUT_SECONDS) as connection:
            connection.sendall(b"\x10" + _length(len(body)) + body)
            answer = connection.recv(4)
    except OSError:
        return None
    return answer[3] if len(answer) == 4 and answer[0] == MQTT_CONNACK else None


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("!H", len(data)) + data


def _length(number: int) -> bytes:
    """MQTT's Remaining Length of a packet below 16,384 bytes."""
    return bytes([number]) if number < 128 else bytes([number % 128 | 0x80, number // 128])


def wait_until(true: Probe, seconds: float) -> None:
    """Ask the probe until it is true.

    Raises:
        TimeoutError: it was not true within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so within {seconds} s")
        time.sleep(0.02)
