"""Hostile decks by the hundred, each sent straight to the converter, past the door that would refuse most of them.

After each of them a good deck must convert. Whoever is reached by a deck, and every word of a file that a PDF holds,
is counted; so is what is left of processes and files.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

import pypdfium2

from tests.faults.ledger import Ledger
from tests.worker import decks, hostile_decks, hostile_generator
from tests.worker.harness import Converter, converter, files_below
from tests.worker.hostile_generator import Hostile

SECRET: Final = "Wartungsschluessel 4711"  # words of another file
SLACK_SECONDS: Final = 5.0
SPARE: Final = 1  # LibreOffice that waits for the next deck


@dataclass(frozen=True)
class Plan:
    """How much of it."""

    decks: int = 500
    deadline: int = 10
    seed: int = 1
    seconds: float = 7200.0
    """No further deck after so long, for machines that are busy with other things: the ledger says how many were."""


class Beacon(ThreadingHTTPServer):
    """Notes every request: whoever comes here has left the sandbox."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _BeaconHandler)
        self.visits: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _BeaconHandler(BaseHTTPRequestHandler):
    server: Beacon

    def do_GET(self) -> None:
        self.server.visits.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(hostile_decks.png_of(1, 1))

    do_HEAD = do_OPTIONS = do_PROPFIND = do_GET  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def beacon() -> Iterator[Beacon]:
    """One that listens as long as the block lasts."""
    server = Beacon()
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Tally:
    """What was seen."""

    statuses: Counter[int]
    late: list[str]
    leaks: list[str]
    spoiled: list[str]
    """Decks after which a good one did not convert."""
    left: list[str]
    slowest: float = 0.0


def run(plan: Plan, folder: Path, say: Callable[[str], None] = print) -> Ledger:
    """The campaign's ledger."""
    ledger = Ledger("decks", plan.seed, {"decks": plan.decks, "deadline_seconds": plan.deadline})
    began = time.monotonic()
    secret = folder / "secret.txt"
    secret.write_text(SECRET, encoding="utf-8")
    good = folder / "good.pptx"
    decks.make_pptx(good, 2)
    tally = Tally(Counter(), [], [], [], [])
    with beacon() as listener:
        seeds = hostile_generator.seeds(folder, listener.url, secret)
        sees = reaches_the_beacon(seeds, listener, folder)
        with converter(folder / "state", deadline=plan.deadline) as service:
            for number, deck in enumerate(hostile_generator.generate(seeds, plan.seed, plan.decks), 1):
                meet(service, deck, good, folder, tally, plan.deadline)
                ledger.sizes["decks"] = number
                if number % 50 == 0:
                    say(f"{number} decks, {time.monotonic() - began:.0f} s")
                if time.monotonic() - began > plan.seconds:
                    break
            place = service.folder
        visits = list(listener.visits)
    tally.left += [] if not place.exists() else files_below(place)
    judge(ledger, tally, visits, sees, (folder / "secret.txt.touched").exists())
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def reaches_the_beacon(seeds: hostile_generator.Seeds, listener: Beacon, folder: Path) -> bool:
    """Does a LibreOffice without a sandbox go there? Else this campaign would see nothing."""
    place = folder / "unsafe"
    place.mkdir()
    deck = place / "linking.odp"
    deck.write_bytes(hostile_generator.linking_odp(seeds.odp, f"{listener.url}/proof.png", "picture"))
    decks.convert(deck, "pdf", place)
    seen = bool(listener.visits)
    listener.visits.clear()
    return seen


def meet(service: Converter, deck: Hostile, good: Path, folder: Path, tally: Tally, deadline: int) -> None:
    """Send one deck, look at what it did, and send a good one."""
    path = folder / f"hostile.{deck.suffix}"
    path.write_bytes(deck.content)
    began = time.monotonic()
    answer = service.convert(path)
    took = time.monotonic() - began
    tally.slowest = max(tally.slowest, took)
    tally.statuses[answer.status_code] += 1
    if took > deadline + SLACK_SECONDS:
        tally.late.append(f"{deck.name}: {took:.1f} s")
    if answer.status_code == 200 and leaks(answer.content):
        tally.leaks.append(deck.name)
    after = convert_good(service, good)
    if after is not None:
        tally.spoiled.append(f"{deck.name}: {after}")
    if len(service.offices()) > 2 * (SPARE + 1):  # each is two processes: bubblewrap's and LibreOffice's
        tally.left.append(f"{deck.name}: {len(service.offices())} processes")


def convert_good(service: Converter, good: Path) -> str | None:
    """What is wrong with a good deck's answer; None when it is a PDF."""
    answer = service.convert(good)
    return None if answer.status_code == 200 and answer.content[:5] == b"%PDF-" else f"{answer.status_code}"


def leaks(pdf: bytes) -> bool:
    """Does a PDF hold words of another file?"""
    if any(word in pdf for word in (SECRET.encode(), b"root:x:0:0")):
        return True
    try:
        document = pypdfium2.PdfDocument(pdf)
    except pypdfium2.PdfiumError:
        return False
    with document:
        texts = (document[number].get_textpage().get_text_range() for number in range(min(5, len(document))))
        return any(word in text for text in texts for word in (SECRET, "root:x:0:0", "DATABASE_URL"))


def judge(ledger: Ledger, tally: Tally, visits: list[str], sees: bool, touched: bool) -> None:
    """What must hold."""
    for what in (tally.late, tally.leaks, tally.spoiled, tally.left, visits):
        for line in what[:10]:
            print(f"  !! {line}")
    ledger.counted |= {f"answers_{status}": count for status, count in sorted(tally.statuses.items())}
    ledger.counted |= {
        "past_the_deadline": len(tally.late),
        "requests_made": len(visits),
        "pdfs_with_words_of_other_files": len(tally.leaks),
        "slowest_seconds": round(tally.slowest, 1),
    }
    ledger.conditions |= {
        "a LibreOffice without a sandbox would be seen": sees,
        "none past the deadline": not tally.late,
        "nobody was reached": not visits,
        "no word of another file in a PDF": not tally.leaks,
        "nothing was run": not touched,
        "a good deck converts after each": not tally.spoiled,
        "no process and no file is left": not tally.left,
    }
