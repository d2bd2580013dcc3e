"""Pictures of the screen: one when the service asks, and the last ten after a failure.

They are kept only in memory, and are sent by HTTPS to the address where the display enrolled, never by MQTT.
"""

import asyncio
import base64
import json
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode, urlsplit

from displays.client import contract
from displays.client.credentials import Credentials
from shared.structured_log import event

if TYPE_CHECKING:
    from http.client import HTTPConnection

PATH: Final = "/api/display/screenshots"
SEND_SECONDS: Final = 5.0  # for the connection and for each read
LONGEST_SECONDS: Final = 8.0
TRIES: Final = 3
AGAIN_SECONDS: Final = 1.0
OFFER_AFTER: Final = (8.0, 10.0, 60.0)  # seconds after a failure, which is recorded first, and after each refusal
LATER: Final = frozenset({0, HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)})
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

Draw = Callable[[], bytes]


class NoPicture(Exception):
    """No picture can be taken; the message says why."""


class NotSent(Exception):
    """The service did not take a picture; the message is the code of its answer, or the reason."""

    def __init__(self, why: str, status: int = 0) -> None:
        """`status` is the HTTP status of the answer; 0 without an answer."""
        super().__init__(why)
        self.status = status


class Screenshots:
    """One display's pictures. `take` makes a picture now, or raises NoPicture."""

    def __init__(self, login: Credentials, take: Callable[[], Awaitable[bytes]]) -> None:
        self._login, self._take = login, take
        self._last: deque[tuple[float, Draw]] = deque(maxlen=contract.PICTURES_KEPT)
        self._offering = False

    def keep(self, draw: Draw) -> None:
        """Remember what the screen shows now; `draw` makes the picture later, if the service asks for it."""
        self._last.append((time.monotonic(), draw))

    async def keep_taken(self, take: Callable[[], Awaitable[bytes]]) -> bool:
        """Take a picture now and remember it. Returns False when none can be taken."""
        try:
            jpeg = await take()
        except NoPicture:
            return False
        self.keep(lambda: jpeg)
        return True

    async def answer(self, command_id: str) -> str | None:
        """Take a picture and send it. Returns None when the service has stored it, otherwise the reason why not."""
        try:
            picture, taken_at = await self._take(), time.monotonic()
            for left in reversed(range(TRIES)):
                try:
                    await self._send(f"/{quote(command_id, safe='')}", {}, picture, taken_at)
                except NotSent as error:
                    if error.status not in LATER or not left:
                        raise
                    await asyncio.sleep(AGAIN_SECONDS)
                else:
                    break
        except (NoPicture, NotSent) as error:
            return str(error)[:500]
        return None

    async def offer(self) -> None:
        """Send the pictures that were kept before a failure, the newest first, until the service has stored them."""
        waiting = list(enumerate(reversed(self._last), start=1))
        if self._offering or not waiting:
            return
        self._offering = True
        try:
            for pause in OFFER_AFTER:
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - many fail at one moment
                if await self._send_all(waiting):
                    return
        finally:
            self._offering = False

    async def _send_all(self, waiting: list[tuple[int, tuple[float, Draw]]]) -> bool:
        """Send the waiting pictures. Returns True when a retry would be useless."""
        while waiting:
            place, (taken_at, draw) = waiting[0]
            try:
                await self._send("", {"place": str(place)}, draw(), taken_at)
            except NotSent as error:
                event("pictures_not_sent", "the pictures before a failure were not taken", why=str(error))
                return error.status not in LATER | {HTTPStatus.CONFLICT}
            del waiting[0]
        return True

    async def _send(self, path: str, why: Mapping[str, str], picture: bytes, taken_at: float) -> None:
        age = {"age_seconds": str(min(86_400, round(time.monotonic() - taken_at)))}
        target = f"{PATH}{path}?{urlencode({**why, **age})}"
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                await asyncio.to_thread(send, self._login, target, picture)
        except TimeoutError:
            raise NotSent("the service does not answer in time") from None


def can_send(login: Credentials) -> bool:
    """Whether pictures may go to the login's address: by HTTP only if the broker also gets the password without TLS."""
    parts = urlsplit(login.url)
    return parts.scheme == "https" or (parts.scheme == "http" and (not login.tls or parts.hostname in LOOPBACK))


def send(login: Credentials, target: str, picture: bytes) -> None:
    """Send one picture. Raises NotSent. Redirects are not followed, because the login is for one address."""
    from http.client import HTTPException  # noqa: PLC0415 - 2 MB of memory, for displays with pictures alone

    password = base64.b64encode(f"{login.username}:{login.password}".encode()).decode()
    headers = {"Authorization": f"Basic {password}", "Content-Type": "image/jpeg"}
    try:
        connection = _connection(login)
        try:
            connection.request("POST", target, picture, headers)
            answer = connection.getresponse()
            told = answer.read(contract.PICTURE_MAX_BYTES)
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        raise NotSent(f"the service cannot be reached: {error or type(error).__name__}") from None
    if answer.status != HTTPStatus.CREATED:
        raise NotSent(_word(told) or f"HTTP {answer.status}", answer.status)


def _connection(login: Credentials) -> "HTTPConnection":
    from http.client import HTTPConnection, HTTPSConnection  # noqa: PLC0415 - see `send`

    parts = urlsplit(login.url)
    if parts.scheme != "https":
        return HTTPConnection(parts.hostname or "", parts.port, timeout=SEND_SECONDS)
    return HTTPSConnection(parts.hostname or "", parts.port, timeout=SEND_SECONDS, context=login.trust())


def _word(body: bytes) -> str:
    """The code of a problem document; empty for anything else."""
    try:
        return str(json.loads(body)["code"])[:100]
    except (ValueError, KeyError, TypeError):
        return ""
