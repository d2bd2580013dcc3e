"""People who look at the dashboard and upload presentations during a campaign."""

import itertools
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.stack import Api, Stack, eventually
from tests.worker import hostile_decks

LOOKS_SECONDS: Final = 0.25  # between two requests
DECK_SECONDS: Final = 10.0  # between two presentations
READY_SECONDS: Final = 120.0
CONTENTS_KEPT: Final = 20  # presentations that are kept; older ones are deleted, as by an operator
PATHS: Final = (
    "/api/monitoring/overview?format=packed",
    "/api/client-logs/recent-errors",
    "/api/client-logs/{uuid}/logs",
    "/api/client-logs/summary",
    "/api/clients/{uuid}",
    "/api/clients/{uuid}/uptime",
    "/api/clients/{uuid}/events",
    "/api/clients/crashed",
    "/api/incidents",
    "/api/event-media",
    "/api/health/ready",
)


@dataclass
class Visitors:
    """The counts of their actions; `refused` has one description for each kind of error."""

    stack: Stack
    uuids: list[str]
    deck: bytes
    stop: threading.Event = field(default_factory=threading.Event)
    counted: Counter[str] = field(default_factory=Counter)
    refused: set[str] = field(default_factory=set)

    def look(self) -> None:
        """Request one page after the other, each for another display."""
        api = self.stack.api()
        for path, uuid in zip(itertools.cycle(PATHS), itertools.cycle(self.uuids), strict=False):
            if self.stop.wait(LOOKS_SECONDS):
                return
            self._count("requests", lambda path=path, uuid=uuid: api.get(path.format(uuid=uuid)))  # type: ignore[misc]

    def upload(self) -> None:
        """Upload one presentation after the other, each with unique bytes; old ones are deleted."""
        api, kept = self.stack.api(), list[int]()
        while True:
            began = time.monotonic()
            self._count("conversions", lambda: kept.append(self._convert(api)))
            while len(kept) > CONTENTS_KEPT:
                oldest = kept.pop(0)
                self._count("deletions", lambda oldest=oldest: api.call("DELETE", f"/api/event-media/{oldest}", 204))  # type: ignore[misc]
            if self.stop.wait(max(0.0, began + DECK_SECONDS - time.monotonic())):
                return

    def _convert(self, api: Api) -> int:
        """Upload, wait until the PDF is ready, and fetch it. Returns the medium's id."""
        content = hostile_decks.with_parts(self.deck, {"docProps/mark.txt": secrets.token_bytes(16)})
        files = {"file": ("talk.pptx", content)}
        media_id = int(api.call("POST", "/api/event-media", 201, files=files).json()["media"]["id"])

        def ready() -> str | None:
            status = api.get(f"/api/conversions/{media_id}/status")
            assert status["status"] != "failed", status
            return str(status["file_url"]) if status["status"] == "ready" else None

        pdf = api.call("GET", eventually(ready, "the PDF", READY_SECONDS)).content
        assert pdf.startswith(b"%PDF-")
        return media_id

    def _count(self, name: str, act: Callable[[], object]) -> None:
        """Do an action and count it; an error is recorded and ends nothing."""
        try:
            act()
            self.counted[name] += 1
        except Exception as error:  # noqa: BLE001 - told in the ledger
            self.counted[f"{name}_failed"] += 1
            self.refused.add(f"{name}: {str(error)[:300]}")


@contextmanager
def visiting(stack: Stack, uuids: list[str], folder: Path) -> Iterator[Visitors]:
    """Visitors of this stack during the block."""
    visitors = Visitors(stack, uuids, hostile_decks.pptx_bytes(folder, slides=2))
    threads = [threading.Thread(target=act, name=act.__name__) for act in (visitors.look, visitors.upload)]
    for thread in threads:
        thread.start()
    try:
        yield visitors
    finally:
        visitors.stop.set()
        for thread in threads:
            thread.join()
