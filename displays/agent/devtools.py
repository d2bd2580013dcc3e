"""Read from a Chromium on this machine, over DevTools, what its page is, whether it draws, and what it shows."""

import asyncio
import base64
import contextlib
import json
import os
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from displays.agent.glass_rules import BAD_STATUS, CRASHED, ERROR, PAGE, Look
from displays.agent.picture import NoPicture, glimpse

LOOPBACK: Final = "127.0.0.1"
CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 5.0  # a page that draws gives a frame within about 20 ms
LARGEST_BYTES: Final = 4 * 1024 * 1024
STRANGE: Final = (OSError, TimeoutError, ValueError, TypeError, EOFError, RecursionError, asyncio.LimitOverrunError)
"""What a program raises that is no DevTools, or that ends in mid-sentence."""
COLUMNS: Final = 64  # width of the picture that is examined
FINENESS: Final = ((1280, 70), (1280, 45), (960, 40), (640, 35), (480, 25))  # longer side and quality of a picture
TITLE_CHARS: Final = 512
ESCAPED: Final = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&"))  # titles in the list
PAGE_SAYS: Final = """new Promise(done => requestAnimationFrame(() => {
  const share = (part, whole) => part / whole || 0;
  const shown = video => {
    const side = (from, to, end) => Math.max(0, Math.min(to, end) - Math.max(from, 0));
    const box = video.getBoundingClientRect();
    const area = side(box.left, box.right, innerWidth) * side(box.top, box.bottom, innerHeight);
    return share(area, innerWidth * innerHeight) > 0.04;
  };
  const playing = () => [...document.querySelectorAll("video")].slice(0, 50)
    .map((video, at) => [video, `${at}:${video.currentTime}`])
    .filter(([video]) => !video.paused && !video.ended && video.readyState > 1 && shown(video))
    .map(([, place]) => place);
  const tell = standing => done([
    innerWidth, innerHeight, location.href.slice(0, 4096), document.title.slice(0, 512),
    performance.getEntriesByType("navigation")[0]?.responseStatus ?? 0,
    document.querySelector('meta[name="signage" i]')?.content.slice(0, 99) ?? "", standing,
    Math.min(1, share(outerWidth * outerHeight, screen.width * screen.height) || 1),
  ]);
  const first = playing();
  if (!first.length) return tell([]);
  setTimeout(() => { const later = playing(); tell(first.filter(place => later.includes(place))); }, 1000);
}))"""
"""What the page says of itself, at its next frame; with a video, a second later."""


class NotThere(Exception):
    """DevTools does not answer, or has no page; the message says which."""


class Crashed(Exception):
    """The page has crashed ("Aw, Snap")."""


class NoPage(NotThere):
    """DevTools answers, and has no page."""


@dataclass(frozen=True, slots=True)
class Target:
    """A page in DevTools' list."""

    path: str  # of its WebSocket
    address: str
    title: str


async def look(port: int) -> Look:
    """Examine the page of the Chromium whose DevTools listens on `port`. Raises NotThere or NoPage."""
    target = Target("", "", "")
    try:
        async with _talking(port) as (with_page, target):
            return await _seen(with_page, target)
    except Crashed:
        return Look(CRASHED, address=target.address, title=target.title)


async def capture(port: int, most_bytes: int, widest: int) -> bytes:
    """A JPEG of the page, in the best quality that fits `most_bytes`. Raises NotThere, also late, or Crashed."""
    async with _talking(port) as (with_page, _):
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
async def _talking(port: int) -> AsyncIterator[tuple["_Conversation", Target]]:
    """Connect to the first page. Raises NotThere, also when the connection breaks later, or NoPage."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            target = await _first_page(port)
            reader, writer = await _websocket(port, target.path)
    except STRANGE as error:
        raise NotThere(f"DevTools on port {port} does not answer: {error or type(error).__name__}") from None
    try:
        with_page = _Conversation(reader, writer)
        await with_page.send("Inspector.enable", {})
        yield with_page, target
    except STRANGE as error:
        raise NotThere(f"DevTools on port {port} went away: {error or type(error).__name__}") from None
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _seen(with_page: "_Conversation", target: Target) -> Look:
    asked = {"expression": PAGE_SAYS, "awaitPromise": True, "returnByValue": True}
    try:
        frame = await with_page.ask("Runtime.evaluate", asked)
        look = _said(frame["result"]["value"], target)
        width, height = frame["result"]["value"][:2]
    except (TimeoutError, KeyError, TypeError, ValueError):
        return Look(address=target.address, title=target.title)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": COLUMNS / max(width, height, 1)}
    try:
        answer = await with_page.ask("Page.captureScreenshot", {"format": "png", "clip": clip})
        return replace(look, glimpse=glimpse(base64.b64decode(answer["data"])))
    except (TimeoutError, KeyError, NoPicture):
        return look


def _said(said: Any, target: Target) -> Look:
    """What the page says of itself. Raises ValueError or TypeError for anything else."""
    _, _, address, title, status, marks, standing, covers = said
    is_error = str(address).startswith("chrome-error:") or int(status) >= BAD_STATUS
    return Look(
        kind=ERROR if is_error else PAGE,
        draws=True,
        address=target.address if str(address).startswith("chrome-error:") else str(address),
        title=str(title) or target.title,
        status=int(status),
        marks=frozenset(str(marks).lower().replace(",", " ").split()),
        standing=frozenset(map(str, standing)),
        covers=float(covers),
    )


async def _first_page(port: int) -> Target:
    """The first page of DevTools' list. Raises NoPage."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        writer.write(f"GET /json/list HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\n\r\n".encode("ascii"))
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(_header(head, b"content-length") or 0)
        targets = json.loads(await reader.readexactly(min(length, LARGEST_BYTES)))
    finally:
        writer.close()
    if not isinstance(targets, list) or not all(isinstance(target, dict) for target in targets):
        raise ValueError("it does not list pages")
    pages = [target for target in targets if target.get("type") == "page" and "webSocketDebuggerUrl" in target]
    if not pages:
        raise NoPage(f"the browser on port {port} has no page")
    page = pages[0]
    path = urlsplit(str(page["webSocketDebuggerUrl"])).path
    return Target(path, str(page.get("url", "")), _unescaped(str(page.get("title", ""))[:TITLE_CHARS]))


def _unescaped(title: str) -> str:
    for escaped, character in ESCAPED:
        title = title.replace(escaped, character)
    return title


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
    lines = (line.partition(b":")[2].strip() for line in head.split(b"\r\n") if line.lower().startswith(name + b":"))
    return next(lines, b"")


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
                if not isinstance(told, dict):
                    raise TypeError("it does not speak as DevTools do")
                if told.get("method") == "Inspector.targetCrashed":
                    raise Crashed
                if told.get("id") == number:
                    result: dict[str, Any] = dict(told["result"])
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
