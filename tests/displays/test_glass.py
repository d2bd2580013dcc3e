"""What the agent sees of the screen: connectors as the kernel shows them, and a real Chromium's page."""

import asyncio
import os
import re
import signal
import struct
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.displays.agent.glass import Glass
from deploy.displays.agent.picture import NoPicture, glimpse
from tests.stack import eventually

MOVING = """<body style="background:#020202;margin:0"><div id="d" style="width:9vw;height:9vw;background:#fff"></div>
<script>let x=0;setInterval(()=>{d.style.marginLeft=(x=(x+1)%90)+"vw"},40)</script>"""
STILL = '<body style="background:linear-gradient(red,blue)"><h1>Menu</h1>'
BLACK = '<body style="background:#000">'
BUSY = STILL + "<script>onload=()=>setTimeout(()=>{document.title='busy';for(;;);},300)</script>"


@contextmanager
def chromium(folder: Path, page: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A Chromium that shows this page, and the port of its DevTools."""
    (folder / "page.html").write_text(page)
    profile = folder / "profile"
    command = ["chromium-headless-shell", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    with (folder / "output.txt").open("wb") as output:
        browser = subprocess.Popen(
            [*command, (folder / "page.html").as_uri()], stdout=output, stderr=output, start_new_session=True
        )
    try:
        port_file = profile / "DevToolsActivePort"
        eventually(lambda: port_file.exists() and port_file.read_text().count("\n"), "DevTools")
        yield browser, int(port_file.read_text().split()[0])
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()


def health(glass: Glass, looks: int = 1) -> str:
    """The word after so many looks."""
    return [asyncio.run(glass.health()) for _ in range(looks)][-1]


@pytest.mark.parametrize(
    ("page", "word"), [(STILL, "ok"), (MOVING, "ok"), (BLACK, "black")], ids=["still", "moving", "black"]
)
def test_a_page_that_draws_is_judged_by_what_it_shows(tmp_path: Path, page: str, word: str) -> None:
    with chromium(tmp_path, page) as (_, port):
        glass = Glass(tmp_path, port)
        eventually(lambda: health(glass) == word, word)

        assert {health(glass) for _ in range(5)} == {word}


def test_a_page_that_draws_no_frame_is_frozen_at_the_second_look(tmp_path: Path) -> None:
    with chromium(tmp_path, BUSY) as (_, port):
        glass = Glass(tmp_path, port)

        eventually(lambda: health(glass) == "frozen", "the frozen page")
        assert glass.trouble == "the page of the player draws no frame"


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


def renderers(browser: int) -> list[int]:
    """The processes that draw pages, anywhere below the browser."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            parents = _parents(int(folder.name))
        except OSError:
            continue
        if b"--type=renderer" in words and browser in parents:
            found.append(int(folder.name))
    return found


def _parents(pid: int) -> list[int]:
    line = []
    while pid > 1:
        status = Path(f"/proc/{pid}/status").read_text()
        pid = int((re.search(r"^PPid:\s+(\d+)", status, re.MULTILINE) or [0, 0])[1])
        line.append(pid)
    return line
