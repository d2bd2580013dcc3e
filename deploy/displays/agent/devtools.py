"""Asks a Chromium on this machine, by its DevTools, whether its page lives and what it shows."""

import asyncio
import base64
import contextlib
import json
import os
import struct
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from deploy.displays.agent.picture import Glimpse, NoPicture, glimpse

LOOPBACK: Final = "127.0.0.1"
CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 5.0  # for a frame: a page that draws answers within some 20 ms
LARGEST_BYTES: Final = 4 * 1024 * 1024
COLUMNS: Final = 64  # of the picture that is looked at
FRAME: Final = {
    "expression": "new Promise(done => requestAnimationFrame(() => done([innerWidth, innerHeight])))",
    "awaitPromise": True,
    "returnByValue": True,
}


class NotThere(Exception):
    """No DevTools, or no page; the message says which."""


class Crashed(Exception):
    """The page has crashed ("Aw, Snap")."""


@dataclass(frozen=True, slots=True)
class Page:
    """What was seen of the page. `glimpse` is None where no picture came."""

    draws: bool
    glimpse: Glimpse | None


async def look(port: int) -> Page:
    """The page of the Chromium that listens there. Raises NotThere or Crashed."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            address = await _page_address(port)
            reader, writer = await _websocket(port, address)
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        raise NotThere(f"DevTools on port {port} does not answer: {error or type(error).__name__}") from None
    try:
        return await _seen(_Conversation(reader, writer))
    except (OSError, asyncio.IncompleteReadError, ValueError) as error:
        raise NotThere(f"DevTools on port {port} went away: {error or type(error).__name__}") from None
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _seen(with_page: "_Conversation") -> Page:
    await with_page.send("Inspector.enable", {})
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
    """Questions and answers over one WebSocket; every message is one text."""

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
        """The result. Raises TimeoutError, Crashed, or KeyError where it is refused."""
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
        """The next message; a ping or a part of none of ours is passed over. Raises ValueError."""
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
