"""What the agent sees of the screen: connectors as the kernel shows them, and a real Chromium's page."""

import asyncio
import json
import os
import re
import signal
import socket
import struct
import time
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from displays.agent import glass as glass_module
from displays.agent.agent import Agent
from displays.agent.devtools import look
from displays.agent.glass import Glass
from displays.agent.glass_rules import Look, Player
from displays.agent.picture import NoPicture, glimpse
from displays.agent.settings import Places, Settings
from displays.client import contract
from displays.client.credentials import Credentials
from displays.client.screenshots import NoPicture as NotTaken
from extensions.screenshots.rules import read_jpeg
from tests.diary import progress
from tests.displays.pages import (
    BLACK,
    BLACK_AT_EACH_SECOND_LOOK,
    BUSY,
    MOVING,
    NIGHT,
    NIGHT_CLOCK,
    STILL,
    VIDEO,
    WHITE,
    chromium,
    renderers,
)
from tests.lab.campaigns.display_glass import EXPECTED, watch
from tests.stack import eventually


def health(glass: Glass, looks: int = 1) -> str:
    """The word after so many looks."""
    return [asyncio.run(glass.health()) for _ in range(looks)][-1]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glass_module, "AGAIN_SECONDS", 0.5)


SHOWN = {
    "still": (STILL, "ok"),
    "moving": (MOVING, "ok"),
    "black": (BLACK, "black"),
    "white": (WHITE, "white"),
    "a clock at night": (NIGHT_CLOCK, "ok"),
    "black by design": (NIGHT, "ok"),
}


@pytest.mark.parametrize(("page", "word"), SHOWN.values(), ids=SHOWN)
def test_a_page_that_draws_is_judged_by_what_it_shows(tmp_path: Path, page: str, word: str) -> None:
    with chromium(tmp_path, page) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == word, word)

        assert {health(glass) for _ in range(5)} == {word}


@pytest.mark.parametrize(("plays", "word"), [("true", "ok"), ("false", "frozen")])
def test_a_video_that_says_it_plays_and_stands_is_frozen(tmp_path: Path, plays: str, word: str) -> None:
    with chromium(tmp_path, VIDEO.replace("PLAYS", plays)) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: "video" in (asyncio.run(glass.health()), glass.trouble)[1] or plays == "true", "the video")

        assert {health(glass) for _ in range(3)} == {word}


class Doors(BaseHTTPRequestHandler):
    """A site whose answer has the status that its path names."""

    def do_GET(self) -> None:
        self.send_response(int(self.path.strip("/")))
        self.end_headers()
        self.wfile.write(STILL.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Doors) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("path", "word", "why"),
    [
        ("/200", "ok", ""),
        ("/404", "error_page", "the page of the player was answered with HTTP 404"),
        ("/502", "error_page", "the page of the player was answered with HTTP 502"),
        (":1/", "error_page", "the player shows an error page of the browser"),
    ],
)
def test_an_error_page_is_told_whoever_made_it(tmp_path: Path, site: str, path: str, word: str, why: str) -> None:
    address = site + path if path[0] == "/" else "http://127.0.0.1:1/"
    with chromium(tmp_path, "", address) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == word, word)

        assert {health(glass) for _ in range(2)} == {word}
        assert glass.trouble == why


def test_a_browser_that_answered_and_no_longer_does_hangs(tmp_path: Path) -> None:
    player = Player("first start")
    with chromium(tmp_path, STILL) as (browser, port):
        glass = Glass(tmp_path, port, player=lambda: player)
        eventually(lambda: health(glass) == "ok", "the page")
        os.killpg(browser.pid, signal.SIGSTOP)

        assert health(glass) == "hung"
        player = Player("second start")
        assert health(glass) == "unknown"


def test_a_player_without_a_page_is_told_after_two_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    glass = Glass(tmp_path, 9, player=lambda: Player("start"))
    assert health(glass) == "unknown"
    later = time.monotonic() + 120
    monkeypatch.setattr("time.monotonic", lambda: later)

    assert health(glass) == "no_page"
    assert glass.trouble.startswith("the player runs without a page: DevTools on port 9")


STRANGERS = {
    "nothing": b"",
    "a page without an end": b"HTTP/1.1 200 OK\r\n" + b"x" * 100_000,
    "no JSON": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
    "no list of pages": b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n[7,{}]",
    "depth": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"[" * 100_000,
    "a strange length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
}


@pytest.mark.parametrize("answer", STRANGERS.values(), ids=STRANGERS)
def test_a_stranger_on_the_port_of_devtools_is_no_page(tmp_path: Path, answer: bytes) -> None:
    async def look() -> str:
        async def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(answer)
            writer.close()

        async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
            return await Glass(tmp_path, server.sockets[0].getsockname()[1]).health()

    assert asyncio.run(look()) == "unknown"


def test_what_is_on_the_glass_is_told_beside_its_health(tmp_path: Path) -> None:
    with chromium(tmp_path, "<title>Menu &amp; more</title>" + STILL) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == "ok", "the page")
        glass.tell()
        health(glass, looks=2)
        told = glass.tell()

    kind, page, picture, common, changed = told["glass"]
    assert (kind, changed) == ("page", 0)
    assert re.fullmatch("[0-9a-f]{8}", page)
    assert re.fullmatch("[0-9a-f]{16}", picture)
    assert 0 < common < 100
    assert (told["address"], told["title"]) == ((tmp_path / "page.html").as_uri(), "Menu & more")


@pytest.mark.parametrize(("page", "common", "changed"), [(MOVING, range(90, 100), 1), (NIGHT, range(100, 101), None)])
def test_a_picture_that_moves_has_changed_and_one_still_by_design_is_not_judged(
    tmp_path: Path, page: str, common: range, changed: int | None
) -> None:
    with chromium(tmp_path, page) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == "ok", "the page")
        glass.tell()
        health(glass, looks=2)
        told = glass.tell()["glass"]

    assert told[3] in common
    assert told[4] == changed


def test_the_agent_reports_what_is_on_its_glass(tmp_path: Path) -> None:
    places = Places(tmp_path / "root")
    for folder in (places.state, places.status.parent, places.root / "proc/sys/kernel/random"):
        folder.mkdir(parents=True)
    (places.root / "proc/sys/kernel/random/boot_id").write_text("boot-1\n")

    async def report(port: int) -> dict[str, Any]:
        agent = Agent(
            places, Settings(devtools_port=port), Credentials("u", "u", "p", "127.0.0.1", 9, False, None, "t")
        )
        agent._boot()
        agent.on_message("look", b'{"version": "n1", "black": "allowed"}', None)
        await agent._report_now(await agent._glass.health())
        whole = dict(agent.vitals)
        agent._glass = Glass(tmp_path, 0)
        await agent._see_screen()
        assert agent.vitals["screen_health"] == "unknown"
        assert not {"glass", "address", "title"} & agent.vitals.keys(), "what is not seen any more is not told"
        return {**whole, "look_version": agent._kept_look.kept_version if agent._kept_look else None}

    with chromium(tmp_path, BLACK) as (_, port):
        eventually(lambda: health(Glass(tmp_path, port)) == "black", "the page")
        told = asyncio.run(report(port))

    assert (told["screen_health"], told["look_version"], told["disk_lies"]) == ("ok", "n1", False)
    assert told["glass"] == ["page", told["glass"][1], "0" * 16, 100, None]
    assert told["address"].startswith("file:///")


def test_a_fault_is_looked_at_twice_when_it_begins_and_once_while_it_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    async def counted(port: int) -> Look:
        looks.append(port)
        return await look(port)

    monkeypatch.setattr(glass_module, "look", counted)
    with chromium(tmp_path, BLACK) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == "black", "the page")

        looks.clear()
        assert (health(glass), len(looks)) == ("black", 1)
        looks.clear()
        assert (health(Glass(tmp_path, port)), len(looks)) == ("black", 2)


def test_of_a_screen_that_nobody_sees_nothing_is_told(tmp_path: Path) -> None:
    glass = Glass(tmp_path, 0)
    health(glass)

    assert glass.tell() == {}


def test_a_devtools_that_never_answers_is_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("displays.agent.devtools.CONNECT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        glass = Glass(tmp_path, silent.getsockname()[1])

        assert health(glass) == "unknown"
        assert "does not answer" in glass.trouble


LOUD = {
    "a title of a megabyte": STILL + "<script>document.title = 'x'.repeat(1e6)</script>",
    "a thousand dialogs": STILL + "<script>onload=()=>setTimeout(()=>{for(let i=0;i<1000;i++)alert(i)},300)</script>",
}


@pytest.mark.parametrize("page", LOUD.values(), ids=LOUD)
def test_a_page_that_is_too_loud_is_told_in_few_bytes(tmp_path: Path, page: str) -> None:
    with chromium(tmp_path, page) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == "ok", "the page")
        told = glass.tell()

    assert len(told["title"]) <= contract.PAGE_MAX_CHARS
    assert len(json.dumps(told)) < 2_000


def test_slides_that_fade_through_black_are_well(tmp_path: Path) -> None:
    with chromium(tmp_path, BLACK_AT_EACH_SECOND_LOOK) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == "ok", "the page")

        assert {health(glass) for _ in range(5)} == {"ok"}


def test_a_page_that_draws_no_frame_is_frozen(tmp_path: Path) -> None:
    with chromium(tmp_path, BUSY) as (_, port):
        glass = Glass(tmp_path, port)

        eventually(lambda: health(glass) == "frozen", "the frozen page")
        assert glass.trouble == "the page of the player draws no frame"


def test_a_page_that_stands_still_is_frozen_at_the_first_report(tmp_path: Path) -> None:
    with chromium(tmp_path, MOVING) as (browser, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == "ok", "the page")
        for pid in renderers(browser.pid):
            os.kill(pid, signal.SIGSTOP)

        assert health(glass) == "frozen"


def test_each_kind_of_fault_is_told_and_a_screen_that_is_well_is_not(tmp_path: Path) -> None:
    seen = watch(tmp_path, faults=len(EXPECTED), looks=24, screens=2, seed=1, say=progress)

    assert {kind: len(times) for kind, times in seen.told.items()} == dict.fromkeys(EXPECTED, 1)
    assert not seen.alarms
    assert seen.well.total() >= 24


def test_a_page_whose_process_died_is_frozen_and_named(tmp_path: Path) -> None:
    with chromium(tmp_path, STILL) as (browser, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == "ok", "the page")
        for pid in renderers(browser.pid):
            os.kill(pid, signal.SIGKILL)

        eventually(lambda: health(glass) == "frozen", "the crash")
        assert glass.trouble == "the page of the player has crashed"


def test_without_devtools_nothing_is_claimed(tmp_path: Path) -> None:
    glass = Glass(tmp_path, 9)

    assert health(glass) == "unknown"
    assert glass.trouble.startswith("DevTools on port 9 does not answer")
    assert health(Glass(tmp_path, 0)) == "unknown"


CONNECTORS = [
    ({"card0-HDMI-A-1": ("connected", "On"), "card0-HDMI-A-2": ("disconnected", "Off")}, "unknown"),
    ({"card0-HDMI-A-1": ("connected", "Off"), "card0-HDMI-A-2": ("disconnected", "Off")}, "off"),
    ({"card0-HDMI-A-1": ("disconnected", "On")}, "disconnected"),
    ({"card1-DP-1": ("connected", "Off"), "card1-DP-2": ("connected", "On")}, "unknown"),
    ({}, "unknown"),
]


@pytest.mark.parametrize(("connectors", "word"), CONNECTORS)
def test_a_screen_that_is_off_or_gone_is_told_by_its_connector(
    tmp_path: Path, connectors: dict[str, tuple[str, str]], word: str
) -> None:
    for name, (status, dpms) in connectors.items():
        folder = tmp_path / "sys/class/drm" / name
        folder.mkdir(parents=True)
        (folder / "status").write_text(status + "\n")
        (folder / "dpms").write_text(dpms + "\n")

    assert health(Glass(tmp_path, 0)) == word


def png(rows: list[bytes], colour_type: int, width: int, filters: bytes) -> bytes:
    data = b"".join(bytes([kind]) + row for kind, row in zip(filters, rows, strict=True))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, colour_type, 0, 0, 0)),
        (b"IDAT", zlib.compress(data)),
    )
    body = b"".join(struct.pack(">I", len(one)) + name + one + bytes(4) for name, one in parts)
    return b"\x89PNG\r\n\x1a\n" + body


def test_every_filter_of_a_png_is_undone() -> None:
    rows = [bytes([10, 0, 0]), bytes([5, 5, 5]), bytes([1, 1, 1]), bytes([0, 0, 0]), bytes([2, 2, 2])]

    seen = glimpse(png(rows, 0, 3, bytes([1, 0, 2, 3, 4])))

    shown = [10, 10, 10, 5, 5, 5, 6, 6, 6, 3, 4, 5, 5, 7, 9]
    assert seen.brightness == sum(shown) // len(shown)


NO_PICTURES = [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n", png([b"\0"], 0, 300, b"\0"), png([b"\0\0"], 3, 2, b"\0")]


@pytest.mark.parametrize("content", NO_PICTURES, ids=["empty", "GIF", "cut off", "too wide", "by palette"])
def test_what_is_no_such_picture_is_refused(content: bytes) -> None:
    with pytest.raises(NoPicture):
        glimpse(content)


# --- pictures ---

NOISE = """<body style="margin:0"><canvas id="c" width="1600" height="900"></canvas><script>
const x=c.getContext("2d"),d=x.createImageData(1600,900);let s=1;
for(let i=0;i<d.data.length;i++)d.data[i]=i%4==3?255:(s=s*16807%2147483647)&255;x.putImageData(d,0,0)</script>"""


def sides(jpeg: bytes) -> tuple[int, int]:
    picture = read_jpeg(jpeg)
    return picture.width, picture.height


@pytest.mark.parametrize("page", [STILL, MOVING, NOISE], ids=["still", "moving", "noise"])
def test_a_picture_of_the_page_is_a_jpeg_of_60_kb_at_most(tmp_path: Path, page: str) -> None:
    with chromium(tmp_path, page) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == "ok", "the page")

        large, small = asyncio.run(glass.picture()), asyncio.run(glass.small_picture())

    assert max(len(large), len(small)) <= contract.PICTURE_MAX_BYTES
    assert max(sides(small)) <= 640
    assert page == NOISE or max(sides(large)) > 640


def test_without_a_page_there_is_no_picture_and_it_is_said_why(tmp_path: Path) -> None:
    glass = Glass(tmp_path, 9)

    with pytest.raises(NotTaken, match="DevTools on port 9 does not answer"):
        asyncio.run(glass.picture())
    assert health(glass) == "unknown"
    with pytest.raises(NotTaken, match="DevTools on port 9 does not answer"):
        asyncio.run(glass.small_picture())


def test_of_a_page_that_has_crashed_there_is_no_picture(tmp_path: Path) -> None:
    with chromium(tmp_path, STILL) as (browser, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == "ok", "the page")
        for pid in renderers(browser.pid):
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: health(glass) == "frozen", "the crash")

        with pytest.raises(NotTaken, match=r"crashed|gives no picture"):
            asyncio.run(glass.picture())
        assert not glass.has_page
