"""Decks that nobody here wrote, each through the public API and beside it through plain LibreOffice.

Any folder of decks will do. Of each that becomes a PDF the pages are counted and drawn small beside those of a
LibreOffice that has no service around it, and what the report claims is held against python-pptx or odfpy. Plain
LibreOffice runs in the converter's sandbox, for strangers' decks follow links, and reads the same stand-ins for fonts.
"""

import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pypdfium2
import requests

from deploy.parts.converter.office import FILTER, Office, find_program
from deploy.parts.converter.sandbox import Sandbox
from shared.event_media.rules import SUFFIXES
from shared.vocabulary import CONVERTIBLE_KINDS
from tests.lab.campaigns import corpus_claims
from tests.lab.campaigns.ledger import Ledger, tell
from tests.stack import Api, running_stack

DECKS: Final = frozenset(suffix for suffix, kind in SUFFIXES.items() if kind in CONVERTIBLE_KINDS)
PLAIN_SECONDS: Final = 150.0  # longer than a deck may take in the service
OVER_SECONDS: Final = 900.0  # a conversion that is not over by then is stuck
LOOK_SECONDS: Final = 0.3
PAGES_DRAWN: Final = 25  # of one deck
WIDTH: Final = 160  # pixels
TOLERATED_SHADES: Final = 48  # of 256: the edges of letters
TOLERATED_SHARE: Final = 0.01  # of a page's pixels
SAY_EVERY: Final = 10


@dataclass(frozen=True)
class Plan:
    """Which decks, and what part of them."""

    folder: Path
    share: float = 1.0
    seed: int = 1

    def decks(self) -> list[Path]:
        """The decks below the folder, or evenly chosen ones of them."""
        found = sorted(path for path in self.folder.rglob("*") if path.suffix.lower() in DECKS and path.is_file())
        step = 1 / max(self.share, 1 / max(1, len(found)))
        return [found[int(number * step)] for number in range(round(len(found) / step))]


@dataclass
class Tally:
    """What was counted, and what is to be looked at, in words."""

    counted: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """The campaign's ledger, on a stack of its own."""
    with running_stack(folder / "stack", UPLOAD_LIMIT_BYTES=str(10**9)) as stack:
        return meet_all(plan, stack.api(), folder, say)


def meet_all(plan: Plan, api: Api, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """The ledger of these decks on a stack that runs already."""
    decks, tally, began = plan.decks(), Tally(), time.monotonic()
    ledger = Ledger("corpus", plan.seed, {"decks": len(decks)})
    plain = Plain(folder)
    for number, deck in enumerate(decks, start=1):
        meet(api, plain, deck, tally)
        if number % SAY_EVERY == 0:
            say(f"{number} of {len(decks)} decks, {time.monotonic() - began:.0f} s")
    ledger.seconds = round(time.monotonic() - began, 1)
    judge(ledger, tally)
    return ledger


def meet(api: Api, plain: "Plain", deck: Path, tally: Tally) -> None:
    """Upload one deck, convert it beside the service, and compare."""
    try:
        answer = upload(api, deck)
    except requests.RequestException as error:
        tally.failed.append(f"{deck.name}: {type(error).__name__}")
        return
    if answer.status_code >= 500:
        tally.failed.append(f"{deck.name}: {answer.status_code}")
        return
    if answer.status_code not in {200, 201}:
        refused(str(answer.json()["code"]), deck, tally, lambda: plain.again(deck, SUFFIXES[deck.suffix.lower()]))
        return
    media = answer.json()["media"]
    beside = plain.start(deck, media["kind"])
    done = over(api, media["id"])
    expected = plain.result(beside)
    if done is None:
        tally.failed.append(f"{deck.name}: stuck")
    elif done["status"] == "failed":
        tally.counted[f"failed_{done['error_code']}"] += 1
        if expected is not None and done["error_code"] != "took_too_long":
            tally.failed.append(f"{deck.name}: {done['error_code']}, though plain LibreOffice made a PDF")
    else:
        tally.counted["ready"] += 1
        tally.counted["ready_at_a_later_try"] += done["attempts"] > 1
        compare(
            api.call("GET", done["file_url"]).content,
            expected,
            deck.name,
            tally,
            lambda: plain.again(deck, media["kind"]),
        )
        held = corpus_claims.held(deck, media["kind"], done["report"])
        tally.counted["claims_compared"] += held.compared
        tally.claims += [f"{deck.name}: {claim}" for claim in held.wrong]
    api.call("DELETE", f"/api/event-media/{media['id']}", 204)


def refused(code: str, deck: Path, tally: Tally, plain: Callable[[], bytes | None]) -> None:
    """Whether a deck is refused that shows something in plain LibreOffice. One without slides is a blank page there."""
    tally.counted[f"refused_{code}"] += 1
    if code != "no_slides" and plain() is not None:
        tally.failed.append(f"{deck.name}: refused as {code}, though plain LibreOffice made a PDF")


def upload(api: Api, deck: Path) -> requests.Response:
    """The answer to the upload; asked again while there are too many."""
    while True:
        with deck.open("rb") as file:
            answer = requests.post(
                f"{api.url}/api/event-media",
                headers={"Authorization": f"Bearer {api.token}"},
                files={"file": (deck.name, file)},
                timeout=OVER_SECONDS,
            )
        if answer.status_code != 429:
            return answer
        time.sleep(float(answer.headers.get("Retry-After", "1")))


def over(api: Api, media_id: int) -> dict[str, Any] | None:
    """The conversion once it is over; None when it never is."""
    until = time.monotonic() + OVER_SECONDS
    while time.monotonic() < until:
        status: dict[str, Any] = api.get(f"/api/conversions/{media_id}/status")
        if status["status"] in {"ready", "failed"}:
            return status
        time.sleep(LOOK_SECONDS)
    return None


class Plain:
    """LibreOffice as anybody starts it: one cold process a deck, in the sandbox, on a fresh copy of one profile."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where it works."""
        self._folder = folder / "plain"
        self._sandbox = Sandbox(isolated=True)
        self._program = find_program()
        self._profile = Office(self._sandbox, self._program, self._folder / "template").make_template()

    def start(self, deck: Path, kind: str) -> subprocess.Popen[bytes]:
        """Begin with a deck."""
        work = self._folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        for name in ("tmp", "out"):
            (work / name).mkdir(parents=True)
        shutil.copytree(self._profile, work / "profile")
        shutil.copyfile(deck, work / f"document.{kind}")
        inside = self._sandbox.inside(work)
        command = [str(self._program), "--headless", "--norestore", "--nologo", "--nodefault"]
        command += [f"-env:UserInstallation={(inside / 'profile').as_uri()}", "--convert-to", FILTER]
        command += ["--outdir", str(inside / "out"), str(inside / f"document.{kind}")]
        return subprocess.Popen(
            self._sandbox.command(work, command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def result(self, process: subprocess.Popen[bytes]) -> bytes | None:
        """Its PDF; None where there is none in time."""
        try:
            process.wait(PLAIN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        path = self._folder / "work" / "out" / "document.pdf"
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None

    def again(self, deck: Path, kind: str) -> bytes | None:
        """Its PDF of the deck, with nothing beside it."""
        return self.result(self.start(deck, kind))


def compare(
    ours: bytes, plain: bytes | None, name: str, tally: Tally, again: Callable[[], bytes | None] = lambda: None
) -> None:
    """Hold our PDF against the one that plain LibreOffice made; `again` makes it once more."""
    if plain is None:
        tally.counted["without_a_plain_pdf"] += 1
        return
    counts = [pages_of(pdf) for pdf in (ours, plain)]
    if counts[0] != counts[1]:
        tally.pages.append(f"{name}: {counts[0]} pages, plain LibreOffice {counts[1]}")
        return
    drawn = list(drawings(plain))
    tally.counted["pages_compared"] += len(drawn)
    different = differences(list(drawings(ours)), drawn)
    if not different:
        return
    other = again()
    if other is not None and pages_of(other) == counts[1] and differences(list(drawings(other)), drawn):
        tally.counted["decks_that_look_different_each_time"] += 1
        return
    tally.pictures.append(f"{name}: pages {different}")


def pages_of(pdf: bytes) -> int:
    """The number of pages; 0 for what is no PDF."""
    try:
        with pypdfium2.PdfDocument(pdf) as document:
            return len(document)
    except pypdfium2.PdfiumError:
        return 0


def drawings(pdf: bytes) -> Iterator[bytes]:
    """Small grey drawings of the first pages."""
    with pypdfium2.PdfDocument(pdf) as document:
        for number in range(min(len(document), PAGES_DRAWN)):
            page = document[number]
            bitmap = page.render(scale=WIDTH / max(*page.get_size(), 1.0), grayscale=True)
            raw = memoryview(bitmap.buffer).cast("B")
            yield b"".join(bytes(raw[y * bitmap.stride :][: bitmap.width]) for y in range(bitmap.height))


def differences(ours: Sequence[bytes], theirs: Sequence[bytes]) -> list[int]:
    """The numbers, from 1, of the pages that look different."""
    return [number for number, pair in enumerate(zip(ours, theirs, strict=True), start=1) if is_different(*pair)]


def is_different(one: bytes, other: bytes) -> bool:
    """Do more pixels differ than the edges of letters explain?"""
    if one == other:
        return False
    if len(one) != len(other):
        return True
    apart = sum(abs(a - b) > TOLERATED_SHADES for a, b in zip(one, other, strict=True))
    return apart > TOLERATED_SHARE * len(one)


def judge(ledger: Ledger, tally: Tally) -> None:
    """What must hold."""
    for line in [*tally.failed, *tally.pages, *tally.pictures, *tally.claims]:
        print(f"  !! {line}")
    ledger.counted |= {name: count for name, count in sorted(tally.counted.items()) if count}
    ledger.counted |= {
        "page_counts_that_differ": len(tally.pages),
        "decks_that_look_different": len(tally.pictures),
        "claims_that_are_wrong": len(tally.claims),
    }
    ledger.conditions |= {
        "every deck is ready or refused in words, or fails as in plain LibreOffice": not tally.failed,
        "every page count is that of plain LibreOffice": not tally.pages,
        "every page looks as in plain LibreOffice": not tally.pictures,
        "every claim of a report is what another reader finds": not tally.claims,
        "decks became PDFs": tally.counted["ready"] > 0,
    }
