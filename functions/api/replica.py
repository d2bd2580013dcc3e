"""The replica: a hot standby of our Postgres that answers for history while it has all that the primary had.

For each such request the primary says how far it is, and the replica must have come as far before it is read: what was
committed when the request came is in the answer, wherever that is read. No clock is compared: an idle primary is no
lag, and a standby that is cut off is behind as soon as something was written. Whatever the replica fails at, the
primary is asked; and while it fails it is not asked at all (docs/decisions/0033-history-from-a-replica.md).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared import db
from shared.errors import ServiceError
from shared.structured_log import Outage

if TYPE_CHECKING:
    from functions.api.routing import Call

T = TypeVar("T")
CATCH_UP_SECONDS: Final = 0.2  # how long a request waits for it to have all; usually it takes some milliseconds
LOOK_EVERY_SECONDS: Final = 0.004
SPARED_SECONDS: Final = 10.0  # how long nobody asks it after a failure: whoever does may wait for nothing
SPARED_BRIEFLY_SECONDS: Final = 2.0  # while it is there and only behind
TOLD_EVERY_SECONDS: Final = 60.0  # in the log, of one that comes and goes
READ_ONLY: Final = "25006"  # a read that writes is a mistake of ours, and the primary would let it
CONFLICT: Final = "40001"  # what was read had to go, because it went on the primary
USABLE: Final = "has all that the primary has"

# `line` names whose log it is: the cluster, its timeline (another one since each promotion), and the database.
_PLACE: Final = sa.text(
    """
    SELECT pg_current_wal_flush_lsn()::text AS reached,
        concat_ws('/', system_identifier, substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8),
            current_database()) AS line
    FROM pg_control_system()
    """
)
_LOOK: Final = sa.text(
    """
    SELECT pg_is_in_recovery() AND CAST(:line AS text) = concat_ws('/', system_identifier,
            upper(lpad(to_hex(timeline_id), 8, '0')), current_database()) AS is_ours,
        coalesce(pg_last_wal_replay_lsn() >= CAST(:reached AS pg_lsn), false) AS has_all
    FROM pg_control_system(), pg_control_checkpoint()
    """
)


class Behind(Exception):
    """The replica does not have all that the primary has."""


class Foreign(Exception):
    """DATABASE_READ_URL names no hot standby of DATABASE_URL's database: another one, or a primary."""


WHY: Final = {
    Behind: "behind; history is read from the primary",
    Foreign: "no standby of this database; history is read from the primary",
}
AWAY: Final = "away; history is read from the primary"


@dataclass(frozen=True)
class Place:
    """How far the primary is in its log, and whose log that is."""

    reached: str
    line: str


def place_of(primary: Connection) -> Place:
    """Where the primary is now: whatever anybody can see there has been written up to here."""
    return Place(*primary.execute(_PLACE).one())


class Replica:
    """The replica as this process knows it."""

    def __init__(self, engine: Engine) -> None:
        """Nothing is asked yet."""
        self.engine = engine
        self._outage = Outage("replica")
        self._lock = threading.Lock()
        self._why = USABLE
        self._spared_until = self._told_at = float("-inf")

    def answer(self, call: "Call", read: Callable[[], T]) -> T:
        """What `read` answers of the past: on the replica, or where that is of no use on the primary.

        1. Ask the primary how far it is. 2. Read on the replica, once it is as far. 3. Else on the primary.
        """
        if not self._may_be_asked():
            return read()
        place = place_of(call.begin())
        try:
            call.go_on_with(self.reading(place))
            answer = read()
        except (SQLAlchemyError, Behind, Foreign) as error:
            call.end()
            self._failed(error)
        except ServiceError:  # "not found" is an answer too
            self._answered()
            raise
        else:
            self._answered()
            return answer
        call.begin()
        return read()

    def look(self, primary: Connection) -> str:
        """How it was found, in a few words."""
        if self._may_be_asked():
            try:
                with self.reading(place_of(primary)):
                    self._answered()
            except (SQLAlchemyError, Behind, Foreign) as error:
                self._failed(error)
        return self._why

    @property
    def was_of_use(self) -> bool:
        """How it was found last; True before it was asked for anything."""
        return self._why is USABLE

    @contextmanager
    def reading(self, place: Place) -> Iterator[Connection]:
        """A connection for reads alone, which see everything up to `place`.

        Raises:
            Behind: it does not come there in time.
            Foreign: it never will.
        """
        with db.reading(self.engine) as connection:
            _wait_for(connection, place)
            with db.patient(connection):
                yield connection

    def _may_be_asked(self) -> bool:
        """Whether it is not being spared. Who comes first afterwards tries it while the others still spare it."""
        if self._why is USABLE:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._spared_until:
                return False
            self._spared_until = now + SPARED_SECONDS
            return True

    def _answered(self) -> None:
        """It was of use."""
        if self._why is not USABLE:
            self._why = USABLE
            self._outage.over()

    def _failed(self, error: Exception) -> None:
        """Spare it for a while. Raises the error again when the primary must not be asked instead."""
        if isinstance(error, PoolTimeout):
            return  # all of our connections to it are in use: it has enough to do
        state = db.sqlstate(error) if isinstance(error, DBAPIError) else None
        if state == READ_ONLY:
            raise error
        briefly = isinstance(error, Behind) or state == CONFLICT
        with self._lock:
            now = time.monotonic()
            self._spared_until = now + (SPARED_BRIEFLY_SECONDS if briefly else SPARED_SECONDS)
            self._why = WHY.get(type(error), AWAY)
            is_news = now - self._told_at >= TOLD_EVERY_SECONDS
            self._told_at = now if is_news else self._told_at
        if is_news:
            self._outage.began(error, **db.said_by_postgres(error))


def _wait_for(replica: Connection, place: Place) -> None:
    """Return when the replica has everything up to `place`. Raises Behind or Foreign."""
    deadline = time.monotonic() + CATCH_UP_SECONDS
    while True:
        is_ours, has_all = replica.execute(_LOOK, {"reached": place.reached, "line": place.line}).one()
        if not is_ours:
            raise Foreign
        if has_all:
            return
        if time.monotonic() > deadline:
            raise Behind
        time.sleep(LOOK_EVERY_SECONDS)
