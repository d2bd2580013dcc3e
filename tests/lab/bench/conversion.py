"""Conversions: the service's time beyond the converter's, and the converter compared with a cold LibreOffice."""

import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import requests

from shared.postgres.door import engine_for
from tests.lab.bench.report import Row, median
from tests.lab.campaigns.machine import rows
from tests.stack import Stack, eventually, running_stack
from tests.worker.decks import convert, make_odp, make_ppt, make_pptx
from tests.worker.harness import converter

DECKS = 10
MIXED = 20
TOOK = "SELECT 1000 * extract(epoch FROM finished_at - created_at) FROM conversions WHERE id = :id"


class Stopwatch(ThreadingHTTPServer):
    """A proxy in front of the converter that notes the time of each conversion."""

    daemon_threads = True

    def __init__(self, converter_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Timed)
        self.converter_url = converter_url
        self.milliseconds: list[float] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Timed(BaseHTTPRequestHandler):
    server: Stopwatch
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        began = time.monotonic()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        passed_on = {"Content-Type": self.headers["Content-Type"]}
        answer = requests.post(self.server.converter_url + self.path, data=body, headers=passed_on, timeout=120)
        self.server.milliseconds.append(1000 * (time.monotonic() - began))
        self.send_response(answer.status_code)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


def measure(folder: Path) -> list[Row]:
    """Measure the whole stack, with a stopwatch in front of the converter."""
    added = []
    with converter(folder / "converter") as real:
        watch = Stopwatch(real.url)
        Thread(target=watch.serve_forever, daemon=True).start()
        try:
            with running_stack(folder / "state", CONVERTER_URL=watch.url) as stack:
                for number in range(DECKS + 1):
                    deck = folder / f"deck-{number}.pptx"
                    make_pptx(deck, 3, seed=number)
                    added.append(_upload(stack, deck) - watch.milliseconds[number])
                asked = len(watch.milliseconds)
                _upload(stack, deck)
                again = len(watch.milliseconds) - asked
        finally:
            watch.shutdown()
            watch.server_close()
    return [
        Row("conversion: enqueue -> ready, without converter", median(added[1:]), "ms", 150, at_most=True),
        Row("conversion: same bytes again, converter calls", again, "calls", 0, at_most=True),
    ]


def _upload(stack: Stack, deck: Path) -> float:
    """Upload a deck. Returns the milliseconds from the creation of its conversion until it is ready."""
    api = stack.api()
    with deck.open("rb") as file:
        made: dict[str, Any] = api.call("POST", "/api/event-media", 201, files={"file": (deck.name, file)}).json()
    media, conversion = made["media"]["id"], made["conversion"]["id"]
    eventually(lambda: api.get(f"/api/conversions/{media}/status")["status"] == "ready", "the PDF", 60)
    engine = engine_for(stack.environment["DATABASE_URL"], "bench")
    try:
        return float(rows(engine, TOOK, id=conversion)[0][0])
    finally:
        engine.dispose()


def measure_converter(folder: Path) -> list[Row]:
    """Measure 20 mixed decks one after another, by the converter and by a new LibreOffice for each."""
    decks = _mixed(folder)
    with converter(folder / "state", deadline=60) as warm:
        assert warm.convert(decks[0]).status_code == 200
        began = time.monotonic()
        for deck in decks:
            assert warm.convert(deck).status_code == 200
        ours = len(decks) / (time.monotonic() - began)
    began = time.monotonic()
    for number, deck in enumerate(decks):
        place = folder / f"cold-{number}"
        place.mkdir()
        convert(deck, "pdf", place)
        assert (place / f"{deck.stem}.pdf").exists()
    cold = len(decks) / (time.monotonic() - began)
    return [Row("converter: 20 mixed decks", ours, "docs/s", 1.5, peer="cold soffice each", theirs=cold)]


def _mixed(folder: Path) -> list[Path]:
    made = []
    for number in range(MIXED):
        suffix, slides = ("pptx", "pptx", "odp", "ppt")[number % 4], 1 + number % 10
        path = folder / f"mixed-{number}.{suffix}"
        if suffix == "pptx":
            make_pptx(path, slides, seed=number)
        elif suffix == "odp":
            make_odp(path, slides)
        else:
            make_ppt(path, slides)
        made.append(path)
    return made
