"""Read from a Chromium on this machine, over DevTools, whether its page draws frames and what the page shows."""

import asyncio
import base64
import contextlib
import json
import os
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from displays.agent.picture import Glimpse, NoPicture, glimpse

LOOPBACK: Final = "127.0.0.1"
CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 5.0  # a page that draws gives a frame within about 20 ms
LARGEST_BYTES: Final = 4 * 1024 * 1024
COLUMNS: Final = 64  # width of the picture that is examined
FINENESS: Final = ((1280, 70), (1280, 45), (960, 40), (640, 35), (480, 25))  # longer side and quality of a picture
FRAME: Final = {
    "expression": "new Promise(done => requestAnimationFrame(() => done([innerWidth, innerHeight])))",
    "awaitPromise": True,
    "returnByValue": True,
}


class NotThere(Exception):
    """DevTools does not answer, or has no page; the message says which."""


class Crashed(Exception):
    """The page has crashed ("Aw, Snap")."""


@dataclass(frozen=True, slots=True)
class Page:
    """Whether the page draws frames, and what it shows. `glimpse` is None if Chromium gave no picture."""

    draws: bool
    glimpse: Glimpse | None


async def look(port: int) -> Page:
    """Examine the page of the Chromium whose DevTools listens on `port`. Raises NotThere or Crashed."""
    async with _talking(port) as with_page:
        return await _seen(with_page)


async def capture(port: int, most_bytes: int, widest: int) -> bytes:
    """A JPEG of the page, in the best quality that fits `most_bytes`. Raises NotThere, also late, or Crashed."""
    async with _talking(port) as with_page:
        try:
            metrics = await with_page.ask("Page.getLayoutMetrics", {})
            seen = metrics["cssVisualViewport"]
            clip = {
                "x": seen["pageX"],
                "y": seen["pageY"],
                "width": seen["clientWidth"],
                "height": seen["clientHeight"],
            }
            for width, quality in FINENESS:
                scale = min(width, widest) / max(clip["width"], clip["height"], 1)
                asked = {"format": "jpeg", "quality": quality, "clip": {**clip, "scale": min(scale, 1)}}
                answer = await with_page.ask("Page.captureScreenshot", asked)
                jpeg = base64.b64decode(answer["data"])
                if len(jpeg) <= most_bytes:
                    return jpeg
        except (TimeoutError, KeyError, TypeError):
            raise NotThere(f"the page at port {port} gives no picture") from None
    raise NotThere(f"no picture of the page at port {port} is small enough")


@contextlib.asynccontextmanager
async def _talking(port: int) -> AsyncIterator["_Conversation"]:
    """Connect to the first page. Raises NotThere, also when the connection breaks later."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            address = await _page_address(port)
            reader, writer = await _websocket(port, address)
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        raise NotThere(f"DevTools on port {port} does not answer: {error or type(error).__name__}") from None
    try:
        with_page = _Conversation(reader, writer)
        await with_page.send("Inspector.enable", {})
        yield with_page
    except (OSError, asyncio.IncompleteReadError, ValueError) as error:
        raise NotThere(f"DevTools on port {port} went away: {error or type(error).__name__}") from None
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _seen(with_page: "_Conversation") -> Page:
    try:
        frame = await with_page.ask("Runtime.evaluate", FRAME)
        width, height = frame["result"]["value"]
    except (TimeoutError, KeyError, TypeError, ValueError):
        return Page(draws=False, glimpse=None)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": COLUMNS / max(width, height, 1)}
    try:
        answer = await with_page.ask("Page.captureScreenshot", {"format": "png", "clip": clip})
        return Page(draws=True, glimpse=glimpse(base64.b64decode(answer["data"])))
    except (TimeoutError, KeyError, NoPicture):
        return Page(draws=True, glimpse=None)


async def _page_address(port: int) -> str:
    """The path of the first page's WebSocket."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        writer.write(f"GET /json/list HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\n\r\n".encode("ascii"))
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(_header(head, b"content-length") or 0)
        targets = json.loads(await reader.readexactly(min(length, LARGEST_BYTES)))
    finally:
        writer.close()
    pages = [
        one["webSocketDebuggerUrl"] for one in targets if one.get("type") == "page" and "webSocketDebuggerUrl" in one
    ]
    if not pages:
        raise ValueError("it has no page")
    return urlsplit(str(pages[0])).path


async def _websocket(port: int, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    key = base64.b64encode(os.urandom(16)).decode()
    asked = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}")
    writer.write("\r\n".join((f"GET {path} HTTP/1.1", f"Host: {LOOPBACK}:{port}", *asked, "", "")).encode("ascii"))
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 101"):
        writer.close()
        raise ValueError(head.split(b"\r\n")[0].decode("ascii", "replace"))
    return reader, writer


def _header(head: bytes, name: bytes) -> bytes:
    found = (line.partition(b":")[2].strip() for line in head.split(b"\r\n") if line.lower().startswith(name + b":"))
    return next(found, b"")


class _Conversation:
    """Requests and responses of DevTools over one WebSocket; each message is one JSON text."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._asked = 0

    async def send(self, method: str, parameters: dict[str, Any]) -> int:
        self._asked += 1
        question = json.dumps({"id": self._asked, "method": method, "params": parameters}).encode()
        mask = os.urandom(4)
        length = struct.pack(">BBH", 0x81, 0x80 | 126, len(question))
        self._writer.write(length + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(question)))
        await self._writer.drain()
        return self._asked

    async def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Call a method and return its result. Raises TimeoutError, Crashed, or KeyError when Chromium refuses."""
        number = await self.send(method, parameters)
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                told = json.loads(await self._message())
                if told.get("method") == "Inspector.targetCrashed":
                    raise Crashed
                if told.get("id") == number:
                    result: dict[str, Any] = told["result"]
                    return result

    async def _message(self) -> bytes:
        """The next text message; control frames such as pings are ignored. Raises ValueError if it is too large."""
        parts = b""
        while True:
            first, second = await self._reader.readexactly(2)
            length = second & 0x7F
            if length > 125:
                size = 2 if length == 126 else 8
                length = int.from_bytes(await self._reader.readexactly(size), "big")
            if length + len(parts) > LARGEST_BYTES:
                raise ValueError("a message is too large")
            content = await self._reader.readexactly(length)
            if first & 0x0F in {0, 1, 2}:
                parts += content
                if first & 0x80:
                    return parts
