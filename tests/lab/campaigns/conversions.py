"""Conversions whose worker is killed -9 at every boundary of its job, with repeated, late and concurrent tasks.

Afterwards each content has one ready row and one file, or a failure with a reason; nothing is stuck.
"""

import io
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import requests
import sqlalchemy as sa
from sqlalchemy import Engine, RowMapping

from deploy.parts.layout import REPOSITORY
from shared.conversions import operations
from shared.conversions.rules import MESSAGES, timeouts
from shared.conversions.store import DueConversion, KeptConversion
from shared.event_media import operations as media_operations
from shared.outside.media_volume import MediaVolume
from shared.postgres.door import database_now, transaction
from shared.tables import conversions
from tests.lab.campaigns.ledger import Ledger
from tests.lab.campaigns.machine import machine
from tests.rules.oidc_harness import issuing
from tests.worker import hostile_decks
from tests.worker.harness import (
    DEADLINE_SECONDS,
    Gate,
    Scripted,
    Worker,
    after,
    answering,
    converter,
    files_below,
    gate_before,
    hanging_up,
    worker,
)
from tests.worker.hostile_pdfs import PDF

DOOMED: Final = REPOSITORY / "tests" / "worker" / "doomed_worker.py"
LEASE: Final = timeouts(timedelta(seconds=DEADLINE_SECONDS)).lease
LIMIT: Final = 10**9


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    kills: int = 50
    ticks: int = 20  # concurrent ticks, in each of `storms`
    storms: int = 5
    seed: int = 1


@dataclass
class World:
    """The running components, and actions on them."""

    engine: Engine
    volume: MediaVolume
    gate: Gate
    steady: Worker
    doomed: Worker
    """A worker that kills itself at a given boundary."""
    deck: bytes

    def upload(self) -> KeptConversion:
        """Upload a deck with unique bytes. Returns its conversion."""
        content = hostile_decks.with_parts(self.deck, {"docProps/mark.txt": secrets.token_bytes(16)})
        received = media_operations.receive_upload(self.volume, io.BytesIO(content), "talk.pptx", LIMIT)
        with transaction(self.engine) as connection:
            now = database_now(connection)
            media = media_operations.record_upload(connection, now, received, "faults")
            return operations.ensure_pdf(connection, now, media)[0]

    def pass_lease(self) -> None:
        """Make every claim and every enqueuing older than a lease."""
        late = LEASE + timedelta(seconds=1)
        with transaction(self.engine) as connection:
            older = {name: conversions.c[name] - late for name in ("claimed_at", "enqueued_at")}
            connection.execute(sa.update(conversions).values(**older))

    def tick(self) -> list[DueConversion]:
        """Run a tick's sweep. Returns the found conversions."""
        with transaction(self.engine) as connection:
            return operations.sweep(connection, database_now(connection), LEASE)

    def deliver(self, found: list[DueConversion]) -> None:
        """Deliver these tasks as the queue does."""
        for conversion_id, generation in found:
            self.steady.deliver(conversion_id, task=f"conversion-{conversion_id}-{generation}")

    def row(self, conversion: KeptConversion) -> RowMapping:
        with transaction(self.engine) as connection:
            query = sa.select(conversions).where(conversions.c.id == conversion.id)
            return connection.execute(query).mappings().one()


def run(plan: Plan, folder: Path, say: Callable[[str], None] = print) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("conversions", plan.seed, {"kills": plan.kills, "ticks_at_once": plan.ticks, "storms": plan.storms})
    began = time.monotonic()
    chance = random.Random(plan.seed)
    made: list[KeptConversion] = []
    with world(folder) as place:
        boundaries = count_boundaries(place, made)
        say(f"a job has {boundaries} boundaries")
        dooms = doomed_at(boundaries, plan.kills, chance)
        survived = sum(kill_at(place, doom, made) for doom in dooms)
        for number in range(plan.storms):
            storm(place, plan.ticks, made, number)
        faults = sum(not meets(place, fault, made) for fault in FAULTS.values())
        judge(ledger, place, made)
    ledger.counted |= {"boundaries": boundaries, "kills_survived_by_the_worker": survived, "faults": len(FAULTS)}
    ledger.experiments["every kill hit a worker at work"] = survived == 0
    ledger.conditions["every fault of the converter had its consequence"] = faults == 0
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def doomed_at(boundaries: int, kills: int, chance: random.Random) -> list[int]:
    """The boundaries at which workers die: each equally often, in random order."""
    all_of_them = list(range(1, boundaries + 1))
    chosen: list[int] = []
    while len(chosen) < kills:
        chance.shuffle(all_of_them)
        chosen += all_of_them[: kills - len(chosen)]
    return chosen


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """Postgres, converter, gate, key server and a worker that survives."""
    with ExitStack() as running:
        service = running.enter_context(machine(folder, bridge=False))
        engine = service.engine()
        running.callback(engine.dispose)
        volume = MediaVolume(folder / "media")
        real = running.enter_context(converter(folder / "converter"))
        gate = running.enter_context(gate_before(real.url))
        issuer = running.enter_context(issuing()).issuer
        url, root = service.database_url, volume.root
        steady = running.enter_context(worker(url, root, gate.url, issuer, folder / "steady.log"))

        doomed = running.enter_context(worker(url, root, gate.url, issuer, folder / "doomed.log", source=DOOMED))
        deck = hostile_decks.pptx_bytes(folder, slides=2, hidden=0)
        yield World(engine, volume, gate, steady, doomed, deck)


def count_boundaries(place: World, made: list[KeptConversion]) -> int:
    """How many boundaries a complete job has."""
    conversion = place.upload()
    made.append(conversion)
    answer = place.doomed.deliver(conversion.id)
    assert answer.json() == {"outcome": "ready"}, answer.text
    return int(answer.headers["X-Boundaries"])


def kill_at(place: World, doom: int, made: list[KeptConversion]) -> bool:
    """Run a job whose worker dies at this boundary, then finish it. Returns whether the worker wrongly survived."""
    conversion = place.upload()
    made.append(conversion)
    place.gate.scripted.extend([answering(200, PDF)] * 2)
    survived = True
    try:
        place.doomed.deliver(conversion.id, doom=doom)
    except requests.RequestException:
        survived = False
    place.steady.deliver(conversion.id)  # immediately, perhaps too early
    place.pass_lease()
    place.deliver(place.tick())
    place.gate.scripted.clear()
    return survived


def storm(place: World, ticks: int, made: list[KeptConversion], number: int) -> None:
    """Run many ticks, and deliver the same forgotten conversions many times, all at once."""
    waiting = [place.upload() for _ in range(3)]
    made += waiting
    place.pass_lease()
    asked = place.gate.count
    place.gate.scripted.extend([answering(200, PDF)] * 3)
    gate = threading.Barrier(ticks)

    def one_tick() -> None:
        gate.wait(60)
        found = place.tick()
        for conversion in waiting:
            place.steady.deliver(conversion.id)
        place.deliver(found)

    with ThreadPoolExecutor(ticks) as pool:
        for done in [pool.submit(one_tick) for _ in range(ticks)]:
            done.result()
    if place.gate.count != asked + len(waiting):
        raise AssertionError(f"storm {number}: the converter was asked {place.gate.count - asked} times")


NO_PAGES: Final = answering(200, PDF.replace(b"/Count 1", b"/Count 0").replace(b"[3 0 R]", b"[]"))
FAULTS: Final[dict[str, tuple[list[Scripted], str, str | None]]] = {
    "500 once": ([answering(500)], "ready", None),
    "500 for ever": ([answering(500)] * 3, "failed", "converter_failed"),
    "cut once": ([answering(200, b"%PDF-1.7 half", declared=10_000)], "ready", None),
    "cut for ever": ([answering(200, b"%PDF-1.7 half", declared=10_000)] * 3, "failed", "converter_cut"),
    "hangs up for ever": ([hanging_up] * 3, "failed", "converter_cut"),
    "hangs once": ([after(threading.Event(), hanging_up)], "ready", None),
    "no pages once": (
        [NO_PAGES],
        "ready",
        None,
    ),
    "no pages for ever": (
        [NO_PAGES] * 2,
        "failed",
        "invalid_pdf",
    ),
    "refused": ([answering(400)], "failed", "converter_refused"),
    "busy once": ([answering(429), answering(503)], "ready", None),
}
"""Fault -> (answers of the converter, final status of the conversion, its error)."""


def meets(place: World, fault: tuple[list[Scripted], str, str | None], made: list[KeptConversion]) -> bool:
    """Whether a conversion with this fault ends as it must, by the queue's retries alone."""
    scripted, status, code = fault
    conversion = place.upload()
    made.append(conversion)
    place.gate.scripted.extend([*scripted, answering(200, PDF)])
    for _ in range(6):
        if place.steady.deliver(conversion.id).status_code == 200:
            break
    place.gate.scripted.clear()
    row = place.row(conversion)
    return (row["status"], row["error_code"]) == (status, code)


def judge(ledger: Ledger, place: World, made: list[KeptConversion]) -> None:
    """Check that each content has one ready row and one file, or a failure with a reason."""
    rows = [place.row(conversion) for conversion in made]
    ready = [row for row in rows if row["status"] == "ready"]
    failed = [row for row in rows if row["status"] == "failed"]
    files = files_below(place.volume.root / "converted")
    ledger.counted |= {"conversions": len(rows), "ready": len(ready), "failed": len(failed), "files": len(files)}
    ledger.conditions["nothing is stuck"] = len(ready) + len(failed) == len(rows)
    ledger.conditions["one file for each content that is ready, and no other"] = files == sorted(
        row["target_path"] for row in ready
    )
    words = set(MESSAGES.values())
    ledger.conditions["every failure has its words"] = all(row["error_message"] in words for row in failed)
    ledger.conditions["no upload was left half"] = files_below(place.volume.root / "incoming") == []
