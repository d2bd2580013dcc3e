"""Third-party decks, each converted by the public API and by plain LibreOffice.

Any folder of decks will do. The pages of both PDFs are counted, drawn small and compared, and the report's claims are
compared with python-pptx or odfpy. Plain LibreOffice runs in the converter's sandbox, because third-party decks follow
links, and it has the same substitute fonts.
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
PLAIN_SECONDS: Final = 150.0  # above the service's deadline
OVER_SECONDS: Final = 900.0  # a longer conversion counts as stuck
LOOK_SECONDS: Final = 0.3
PAGES_DRAWN: Final = 25  # pages of a deck that are compared
WIDTH: Final = 160  # pixels
TOLERATED_SHADES: Final = 48  # of 256; smaller differences are edges of letters
TOLERATED_SHARE: Final = 0.01  # share of a page's pixels
SAY_EVERY: Final = 10


@dataclass(frozen=True)
class Plan:
    """The decks of the campaign."""

    folder: Path
    share: float = 1.0
    seed: int = 1

    def decks(self) -> list[Path]:
        """The decks below the folder, or an even selection of them."""
        found = sorted(path for path in self.folder.rglob("*") if path.suffix.lower() in DECKS and path.is_file())
        step = 1 / max(self.share, 1 / max(1, len(found)))
        return [found[int(number * step)] for number in range(round(len(found) / step))]


@dataclass
class Tally:
    """The counts, and descriptions of decks to look at."""

    counted: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign on its own stack. Returns its ledger."""
    with running_stack(folder / "stack", UPLOAD_LIMIT_BYTES=str(10**9)) as stack:
        return meet_all(plan, stack.api(), folder, say)


def meet_all(plan: Plan, api: Api, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign on a running stack. Returns its ledger."""
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
    """Upload a deck, convert it by plain LibreOffice too, and compare."""
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
    """Note a refused deck, if plain LibreOffice shows more of it than a blank page, as for a deck without slides."""
    tally.counted[f"refused_{code}"] += 1
    if code != "no_slides" and plain() is not None:
        tally.failed.append(f"{deck.name}: refused as {code}, though plain LibreOffice made a PDF")


def upload(api: Api, deck: Path) -> requests.Response:
    """Upload a deck; retry after 429. Returns the answer."""
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
    """Wait for the end of the conversion. Returns None if it does not end."""
    until = time.monotonic() + OVER_SECONDS
    while time.monotonic() < until:
        status: dict[str, Any] = api.get(f"/api/conversions/{media_id}/status")
        if status["status"] in {"ready", "failed"}:
            return status
        time.sleep(LOOK_SECONDS)
    return None


class Plain:
    """Plain LibreOffice: a new process for each deck, in the sandbox, with a fresh copy of one profile."""

    def __init__(self, folder: Path) -> None:
        """`folder` is its working folder."""
        self._folder = folder / "plain"
        self._sandbox = Sandbox(isolated=True)
        self._program = find_program()
        self._profile = Office(self._sandbox, self._program, self._folder / "template").make_template()

    def start(self, deck: Path, kind: str) -> subprocess.Popen[bytes]:
        """Start the conversion of a deck."""
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
        """The PDF; None if it is not made in time."""
        try:
            process.wait(PLAIN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        path = self._folder / "work" / "out" / "document.pdf"
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None

    def again(self, deck: Path, kind: str) -> bytes | None:
        """Convert the deck again, while nothing else runs."""
        return self.result(self.start(deck, kind))


def compare(
    ours: bytes, plain: bytes | None, name: str, tally: Tally, again: Callable[[], bytes | None] = lambda: None
) -> None:
    """Compare our PDF with that of plain LibreOffice; `again` makes the latter once more."""
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
    """The number of pages; 0 if it is not a PDF."""
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
    """The numbers (from 1) of the pages that differ."""
    return [number for number, pair in enumerate(zip(ours, theirs, strict=True), start=1) if is_different(*pair)]


def is_different(one: bytes, other: bytes) -> bool:
    """Whether more pixels differ than the edges of letters explain."""
    if one == other:
        return False
    if len(one) != len(other):
        return True
    apart = sum(abs(a - b) > TOLERATED_SHADES for a, b in zip(one, other, strict=True))
    return apart > TOLERATED_SHARE * len(one)


def judge(ledger: Ledger, tally: Tally) -> None:
    """Add the conditions to the ledger."""
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
