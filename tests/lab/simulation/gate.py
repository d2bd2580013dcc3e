"""Faults between one component and the database: away, slow, a lost answer, killed between two statements."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError


class Killed(BaseException):
    """The process was killed here, and runs no further."""


class Gate:
    """Stands between a component's engine and Postgres. Without a fault it does nothing."""

    def __init__(self, engine: Engine, pass_by: Callable[[float], None]) -> None:
        """`pass_by` runs the events of some seconds while this component waits."""
        self.is_away = False
        self.loses_sessions = False  # the connection is dead at the next statement
        self.commit_seconds = 0.0
        self.kill_at: int | None = None  # killed before the n-th statement or commit from now
        self.wait_at: tuple[int, float] | None = None  # waits this many seconds before the n-th one from now
        self.lose_commit_answer = False  # the next commit is done, but its answer is lost
        self._pass_by = pass_by
        self._engine = engine
        self._listeners = (("before_cursor_execute", self._statement), ("commit", self._commit))
        for name, listener in self._listeners:
            sa.event.listen(engine, name, listener)

    def remove(self) -> None:
        """Remove the gate from the engine."""
        for name, listener in self._listeners:
            sa.event.remove(self._engine, name, listener)

    def calm(self) -> None:
        """End all faults, except those of the database itself."""
        self.kill_at, self.wait_at = None, None

    def _statement(self, *_: Any) -> None:
        self._step()

    def _commit(self, connection: Any) -> None:
        self._step()
        if self.commit_seconds:
            self._pass_by(self.commit_seconds)
        if self.lose_commit_answer:
            self.lose_commit_answer = False
            connection.connection.commit()
            raise _away()

    def _step(self) -> None:
        if self.is_away or self.loses_sessions:
            self.loses_sessions = False
            raise _away()
        if self.kill_at is not None:
            self.kill_at -= 1
            if self.kill_at < 0:
                self.kill_at = None
                raise Killed
        if self.wait_at is not None:
            left, seconds = self.wait_at
            self.wait_at = (left - 1, seconds) if left > 0 else None
            if left <= 0:
                self._pass_by(seconds)


def _away() -> OperationalError:
    return OperationalError("", None, ConnectionResetError("the database is away"), connection_invalidated=True)
