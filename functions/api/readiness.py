"""Check each part that the api function needs. Raises nothing.

The texts are constants: the route is public, so they may show no address and no exception's text.
"""

import threading
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from functions.api.services import Services
from shared.overview import rules, store
from shared.postgres import door
from shared.postgres.query import Query
from shared.structured_log import failure

REPOSITORY: Final = Path(__file__).resolve().parents[2]
ANSWER_HOLDS_SECONDS: Final = 1.0  # the findings are cached so long, because anybody may call the route
PING = Query("SELECT 1", int)
REVISION = Query("SELECT version_num FROM alembic_version", str)


class Check(Struct, frozen=True):
    """The result of checking one part."""

    ok: bool
    why: str


class Readiness:
    """The findings of one process, cached for a second. While one thread looks, the others get the last findings."""

    def __init__(self, services: Services) -> None:
        """`services` are the parts to check."""
        self._services = services
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._findings: dict[str, Check] = {}

    def findings(self) -> dict[str, Check]:
        """The finding of each part, by the part's name."""
        if not self._lock.acquire(blocking=not self._findings):
            return self._findings
        try:
            if time.monotonic() - self._looked_at > ANSWER_HOLDS_SECONDS:
                self._findings = self._look()
                self._looked_at = time.monotonic()
            return self._findings
        finally:
            self._lock.release()

    def _look(self) -> dict[str, Check]:
        looks: dict[str, Callable[[Services], Check]] = {
            "database": _database,
            "migrations": _migrations,
            "media_volume": _media_volume,
            "task_queue": _task_queue,
            "last_tick": _last_tick,
        }
        return {name: _guarded(name, look, self._services) for name, look in looks.items()}


def _guarded(name: str, look: Callable[[Services], Check], services: Services) -> Check:
    try:
        return look(services)
    except Exception:  # noqa: BLE001 - a check that fails is a finding
        failure("not_ready", "a readiness check failed", part=name)
        return Check(ok=False, why="could not be asked")


def _database(services: Services) -> Check:
    with door.transaction(services.engine) as connection:
        PING.run(connection)
    return Check(ok=True, why="answers")


def _migrations(services: Services) -> Check:
    head, known = _revisions()
    with door.transaction(services.engine) as connection:
        revision = REVISION.one_or_none(connection)
    if revision == head:
        return Check(ok=True, why="at the head")
    if revision is not None and head is not None and revision not in known and revision > head:
        return Check(ok=True, why="ahead of this code")  # a newer version is being rolled out; this code still works
    return Check(ok=False, why="behind: run alembic upgrade head")


@lru_cache(maxsize=1)
def _revisions() -> tuple[str | None, frozenset[str]]:
    """The head revision of the migrations in this code, and all their revisions."""
    from alembic.config import Config  # noqa: PLC0415 - cold start
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - cold start

    scripts = ScriptDirectory.from_config(Config(REPOSITORY / "alembic.ini"))
    return scripts.get_current_head(), frozenset(script.revision for script in scripts.walk_revisions())


def _media_volume(services: Services) -> Check:
    if services.media_volume.is_usable():
        return Check(ok=True, why="writable")
    return Check(ok=False, why="not mounted, full or not writable")


def _task_queue(services: Services) -> Check:
    from shared.outside.task_queue import queue_is_reachable  # noqa: PLC0415 - grpc comes with it

    if queue_is_reachable(services.task_queue):
        return Check(ok=True, why="answers")
    return Check(ok=False, why="does not answer, or the queue does not exist")


def _last_tick(services: Services) -> Check:
    with door.transaction(services.engine) as connection:
        now = door.database_now(connection)
        last_tick_at = store.scheduler(connection).last_tick_at
    if last_tick_at is None:
        return Check(ok=False, why="there was no tick yet")
    is_late = rules.is_scheduler_late(last_tick_at, now)
    return Check(ok=not is_late, why="overdue" if is_late else "on time")
