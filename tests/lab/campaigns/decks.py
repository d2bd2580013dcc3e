"""Hundreds of hostile decks, each sent directly to the converter, without the checks that would refuse most of them.

After each of them a good deck must convert, and no process or file of the hostile one may be left. The campaign counts
decks that reach a server, and text or pictures of other files in a PDF. Results are stored beside the ledgers at once,
so that an interrupted campaign continues where it was.
"""

import json
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from deploy.parts import guardian
from tests.lab.campaigns.fingerprint import fingerprint
from tests.lab.campaigns.ledger import Ledger, tell
from tests.worker import decks
from tests.worker.beacon import Beacon, beacon
from tests.worker.harness import Converter, converter, files_below
from tests.worker.hostile import generator, reaching
from tests.worker.hostile.generator import ALL_VARIANTS, Hostile
from tests.worker.hostile.leaks import leaks
from tests.worker.hostile.seeds import WORDS, Seeds, seeds

TOLERANCE_SECONDS: Final = 3
"""How long after the deadline an answer may come. The deadline is from the end of the upload to the end of LibreOffice;
sending the form, killing a LibreOffice of up to 4 GiB and answering take more time on a busy machine. The worker waits
15 s longer than the deadline."""
SETTLE_SECONDS: Final = 240.0
FULL: Final = 500
TRIES: Final = 3
SAVE_EVERY: Final = 10
SHAPING: Final = ("tests/worker/hostile", "tests/lab/campaigns/decks.py", "deploy/parts/converter")
"""The code that decides the results: when it changes, stored results are not used."""


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    decks: int = FULL
    deadline: int = 10
    seed: int = 1
    part: Path | None = None
    """The file of stored results, to continue from; None: no file."""


@dataclass
class Tally:
    """The results so far."""

    campaign: str
    """The `fingerprint` of the code, taken at the start."""
    done: int = 0
    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    met: set[str] = field(default_factory=set)
    """Kinds of decks with their format and way."""
    late: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    reached: list[str] = field(default_factory=list)
    """Decks that reached the beacon."""
    spoiled: list[str] = field(default_factory=list)
    """Decks after which a good deck did not convert."""
    left: list[str] = field(default_factory=list)
    """Decks whose process or file was left after the next conversion."""
    touched: bool = False
    """Whether a macro wrote its file."""
    slowest: float = 0.0
    met_again: int = 0
    """Decks that were sent again, because an independent LibreOffice was too slow too."""
    unmet: list[str] = field(default_factory=list)
    """Decks after which this machine was too slow for a good one, each time."""

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """The stored results of the same campaign, or new ones."""
        present = made_by(plan)
        if plan.part is None or not plan.part.exists():
            return cls(present)
        kept = json.loads(plan.part.read_text(encoding="utf-8"))
        if kept["campaign"] != present:
            return cls(present)
        return cls(**{**kept, "statuses": Counter(kept["statuses"]), "met": set(kept["met"])})

    def keep(self, plan: Plan) -> None:
        """Store the results atomically."""
        if plan.part is None:
            return
        plan.part.parent.mkdir(exist_ok=True)
        draft = plan.part.with_suffix(".draft")
        whole = {**vars(self), "met": sorted(self.met)}
        draft.write_text(json.dumps(whole), encoding="utf-8")
        draft.replace(plan.part)


def made_by(plan: Plan) -> str:
    """The campaign's fingerprint."""
    return fingerprint(f"{plan.decks} {plan.deadline} {plan.seed}", SHAPING)


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    sizes = {"decks": plan.decks, "deadline_seconds": plan.deadline, "tolerance_seconds": TOLERANCE_SECONDS}
    ledger, tally = Ledger("decks", plan.seed, sizes), Tally.of(plan)
    if tally.done:
        say(f"going on after {tally.done} decks")
    with beacon() as listener:
        good = seeds(folder, listener.url)
        ledger.experiments |= what_is_seen(good, listener, folder)
        place = meet_all(plan, good, listener, folder, tally, say)
    tally.left += [str(path) for path in files_below(place)] if place.exists() else []
    judge(ledger, plan, tally)
    if plan.part is not None:
        plan.part.unlink(missing_ok=True)
    return ledger


def what_is_seen(good: Seeds, listener: Beacon, folder: Path) -> dict[str, bool]:
    """Whether a LibreOffice without a sandbox connects to servers and shows other files, so that faults are seen."""
    place = folder / "unsafe"
    place.mkdir()
    links = {
        "reach.odp": reaching.linking_odp(good.odp, f"{listener.url}/proof.png", "picture"),
        "words.pptx": reaching.linking_pptx(good.pptx, good.secrets.deck.as_uri(), "object"),
        "picture.odp": reaching.linking_odp(good.odp, good.secrets.picture.as_uri(), "background"),
    }
    pdfs = {}
    for name, content in links.items():
        (place / name).write_bytes(content)
        decks.convert(place / name, "pdf", place)
        pdfs[name] = (place / name).with_suffix(".pdf").read_bytes()
    reached = bool(listener.visits)
    listener.visits.clear()
    return {
        "without a sandbox a link would be seen to be followed": reached,
        "without a sandbox another file's words would be seen in a PDF": leaks(pdfs["words.pptx"]),
        "without a sandbox another file's picture would be seen in a PDF": leaks(pdfs["picture.odp"]),
    }


def meet_all(plan: Plan, good: Seeds, listener: Beacon, folder: Path, tally: Tally, say: Callable[[str], None]) -> Path:
    """Send every deck that was not sent yet. Returns the converter's folder, which must be removed in the end."""
    before = tally.seconds
    began = time.monotonic()
    sample = folder / "good.pptx"
    decks.make_pptx(sample, 2)
    with converter(folder / "state", deadline=plan.deadline, A_SECRET_OF_THE_CONVERTER=WORDS) as service:
        for deck in generator.generate(good, plan.seed, plan.decks, skip=tally.done):
            meet(service, deck, sample, folder, tally, plan.deadline)
            tally.reached += [f"{deck.name}: {visit}" for visit in listener.visits]
            listener.visits.clear()
            tally.touched |= Path(reaching.touched(good)).exists()
            tally.done += 1
            tally.seconds = before + time.monotonic() - began
            if tally.done % SAVE_EVERY == 0:
                tally.keep(plan)
            if tally.done % SAVE_EVERY == 0 or plan.decks < FULL:
                say(f"{tally.done} of {plan.decks} decks, {tally.seconds:.0f} s")
        return service.folder


def meet(service: Converter, deck: Hostile, sample: Path, folder: Path, tally: Tally, deadline: int) -> None:
    """Send one deck, check its effects, and send a good one; again if the good one failed because of a slow machine.

    A plain LibreOffice proves that: started at that moment, it takes longer than the deadline for the same good deck.
    """
    tally.met.add(deck.name)
    for again in range(TRIES):
        tally.met_again += again > 0
        refused = meet_once(service, deck, sample, folder, tally, deadline)
        if refused is None:
            return
        if not machine_is_too_slow(sample, folder, deadline):
            tally.spoiled.append(f"{deck.name}: {refused}")
            return
    tally.unmet.append(deck.name)


def meet_once(service: Converter, deck: Hostile, sample: Path, folder: Path, tally: Tally, deadline: int) -> int | None:
    """Send the deck and then the good one. Returns the status of the good one's refusal; None if it converted."""
    path = folder / f"hostile.{deck.suffix}"
    path.write_bytes(deck.content)
    began = time.monotonic()
    answer = service.convert(path)
    took = time.monotonic() - began
    tally.slowest = max(tally.slowest, took)
    tally.statuses[str(answer.status_code)] += 1
    if took > deadline + TOLERANCE_SECONDS:
        tally.late.append(f"{deck.name}: {took:.1f} s")
    if answer.status_code == 200 and leaks(answer.content):
        tally.leaks.append(deck.name)
    then = guardian.descendants(service.process.pid)
    after = service.convert(sample)
    if what := left_of(service, set(then)):
        tally.left.append(f"{deck.name}: {what}")
    return None if after.status_code == 200 and after.content[:5] == b"%PDF-" else after.status_code


def machine_is_too_slow(sample: Path, folder: Path, deadline: int) -> bool:
    """Whether an independent LibreOffice needs longer than the deadline for the good deck."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        began = time.monotonic()
        try:
            decks.convert(sample, "pdf", Path(place))
        except subprocess.SubprocessError:
            return True
        return time.monotonic() - began > deadline


def left_of(service: Converter, then: set[int]) -> str:
    """A description of what a deck left behind; empty if all is gone within SETTLE_SECONDS.

    `then`: the processes below the converter at the time of the answer: the deck's own, if any survived, and the
    LibreOffice that waited for the next document, which has been used since.
    """
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        processes = then & set(guardian.descendants(service.process.pid))
        places = sorted(path.name for path in service.folder.iterdir())
        offices = [name for name in places if name.startswith("office-")]
        strange = [name for name in places if name not in offices and name != "template"]
        if not processes and not strange and len(offices) <= 1:
            return ""
        if time.monotonic() > until:
            return f"processes {sorted(processes)}, folders {places}"
        time.sleep(0.05)


def judge(ledger: Ledger, plan: Plan, tally: Tally) -> None:
    """Add the conditions to the ledger."""
    for what in (tally.late, tally.leaks, tally.spoiled, tally.left, tally.reached):
        for line in what[:10]:
            print(f"  !! {line}")
    ledger.seconds = round(tally.seconds, 1)
    ledger.counted |= {f"answers_{status}": count for status, count in sorted(tally.statuses.items())}
    ledger.counted |= {
        "variants": len(tally.met),
        "past_deadline_and_tolerance": len(tally.late),
        "slowest_seconds": round(tally.slowest, 1),
        "requests_made": len(tally.reached),
        "pdfs_with_words_or_pictures_of_other_files": len(tally.leaks),
        "good_decks_refused_after": len(tally.spoiled),
        "processes_or_files_left": len(tally.left),
        "met_again_on_a_slow_machine": tally.met_again,
    }
    ledger.conditions |= {
        "nobody was reached": not tally.reached,
        "no word and no picture of another file in a PDF": not tally.leaks,
        "nothing was run": not tally.touched,
        "a good deck converts after each": not tally.spoiled,
        "no process and no file is left of any": not tally.left,
    }
    ledger.experiments["this machine converts a good deck within the deadline"] = not tally.unmet
    ledger.limits["none past the deadline and its tolerance"] = not tally.late
    if plan.decks >= FULL:
        ledger.conditions["every kind in every format and way was among them"] = len(tally.met) == len(ALL_VARIANTS)
