"""JSON log lines: one object a line, so that a newline or an escape sequence in a value stays a value.

Fields: time, severity, message, event and what the caller adds (request_id, trace_id, client_uuid,
command_id, conversion_id, actor, duration_ms). The names `severity` and `message` are the ones that
Google Cloud Logging lifts out of a line.
"""

import json
import logging
import sys
import threading
import time
from datetime import UTC, datetime
from typing import Any, TextIO

SEVERITIES = {
    logging.DEBUG: "DEBUG",
    logging.INFO: "INFO",
    logging.WARNING: "WARNING",
    logging.ERROR: "ERROR",
    logging.CRITICAL: "CRITICAL",
}


_ENCODER = json.JSONEncoder(default=str)  # made once: json.dumps makes one a call
_LOGGER = logging.getLogger("signage")


class JsonFormatter(logging.Formatter):
    """One JSON object per record, ASCII only, fields from `extra={"fields": {...}}`."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line; an exception becomes `exception` with its traceback."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "severity": SEVERITIES.get(record.levelno, record.levelname),
            "message": record.getMessage(),
            "logger": record.name,
        }
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _ENCODER.encode(line)


def configure(
    component: str, stream: TextIO | None = None, level: int = logging.INFO, *, version: str | None = None
) -> None:
    """Send every logger of this process to `stream` (standard error by default) as JSON lines.

    The first line says which component starts, and its `version` if it has one.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # No line has these fields, and to find them takes as long as to write a line.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    for talkative in ("apscheduler", "alembic"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
    # It logs a traceback for each broken connection that it closes; the user of the connection logs the error already.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    about: dict[str, Any] = {"component": component, **({"version": version} if version else {})}
    event("component_started", "component started", **about)


def event(name: str, message: str, /, severity: int = logging.INFO, **fields: Any) -> None:
    """Log `message`, a constant, with fields. `name`: the event, to search for."""
    _write(severity, message, {"event": name, **fields})


class Outage:
    """An outage of something that this process needs: one log line at its start and one at its end."""

    def __init__(self, what: str) -> None:
        """`what`, a word such as "database", names the events: `<what>_away` and `<what>_back`."""
        self._what = what
        self._lock = threading.Lock()
        self._since: float | None = None

    def began(self, error: BaseException, **details: str) -> None:
        """Note a failed use; log the first one, with `details`."""
        with self._lock:
            if self._since is not None:
                return
            self._since = time.monotonic()
        name = type(error).__name__
        event(f"{self._what}_away", f"the {self._what} cannot be used", logging.ERROR, error=name, **details)

    def over(self) -> None:
        """Note a successful use; after an outage log how long it was."""
        if self._since is not None:  # checked without the lock: nearly always there is no outage
            self._back()

    def _back(self) -> None:
        """Log the end of the outage, once for concurrent users."""
        with self._lock:
            since, self._since = self._since, None
        if since is not None:
            seconds = round(time.monotonic() - since, 1)
            event(f"{self._what}_back", f"the {self._what} can be used again", seconds=seconds)


def failure(name: str, message: str, /, **fields: Any) -> None:
    """Log the exception being handled, with its traceback."""
    _write(logging.ERROR, message, {"event": name, **fields}, sys.exc_info())


def _write(severity: int, message: str, fields: dict[str, Any], exc_info: Any = None) -> None:
    """Log a record without the place in the code, which takes as long to find as the line takes to write."""
    if _LOGGER.isEnabledFor(severity):
        record = logging.LogRecord(_LOGGER.name, severity, "", 0, message, (), exc_info)
        record.__dict__["fields"] = fields
        _LOGGER.handle(record)
