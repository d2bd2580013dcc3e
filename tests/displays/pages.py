"""A real Chromium that shows a page, as a player does."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.stack import eventually

MOVING = """<body style="background:#020202;margin:0"><div id="d" style="width:9vw;height:9vw;background:#fff"></div>
<script>let x=0;setInterval(()=>{d.style.marginLeft=(x=(x+1)%90)+"vw"},40)</script>"""
STILL = '<body style="background:linear-gradient(red,blue)"><h1>Menu</h1>'
BLACK = '<body style="background:#000">'
WHITE = '<body><div id="root"></div><script>throw new Error("the script of this page is dead")</script>'
NIGHT_CLOCK = """<body style="background:#000">
<div id="clock" style="position:fixed;right:9px;bottom:9px;color:#888">0</div>
<script>setInterval(()=>{clock.textContent=Math.random()},50)</script>"""
NIGHT = '<meta name="signage" content="still black">' + BLACK
VIDEO = """<body style="margin:0;background:#123"><canvas id="c" width="64" height="36"></canvas>
<video id="v" muted style="width:100vw;height:90vh"></video><script>
const pen = c.getContext("2d"), type = "video/webm;codecs=vp8", parts = [];
setInterval(() => { pen.fillStyle = `hsl(${Date.now() / 9 % 360},90%,50%)`; pen.fillRect(0, 0, 64, 36); }, 40);
const recorder = new MediaRecorder(c.captureStream(25), {mimeType: type});
recorder.ondataavailable = event => parts.push(event.data);
recorder.onstop = async () => {
  const film = new Blob(parts, {type}), source = new MediaSource();
  if (PLAYS) { v.src = URL.createObjectURL(film); v.loop = true; v.play(); return; }
  v.src = URL.createObjectURL(source);  // the film stops coming in its midst
  source.onsourceopen = async () => source.addSourceBuffer(type).appendBuffer(await film.arrayBuffer());
  v.play();
};
recorder.start(); setTimeout(() => recorder.stop(), 1500);
</script>"""
BUSY = STILL + "<script>onload=()=>setTimeout(()=>{document.title='busy';for(;;);},300)</script>"

BLACK_AT_EACH_SECOND_LOOK = """<body><script>
let looks = 0; const draw = requestAnimationFrame;
window.requestAnimationFrame = done => { document.body.style.background = looks++ % 2 ? "#06c" : "#000"; draw(done); };
</script>"""


@contextmanager
def chromium(folder: Path, page: str, address: str = "") -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A Chromium that shows this page, or this address, and the port of its DevTools."""
    (folder / "page.html").write_text(page)
    profile = folder / "profile"
    command = ["chromium-headless-shell", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    with (folder / "output.txt").open("wb") as output:
        browser = subprocess.Popen(
            [*command, address or (folder / "page.html").as_uri()], stdout=output, stderr=output, start_new_session=True
        )
    try:
        port_file = profile / "DevToolsActivePort"
        eventually(lambda: port_file.exists() and port_file.read_text().count("\n"), "DevTools")
        yield browser, int(port_file.read_text().split()[0])
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()


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
