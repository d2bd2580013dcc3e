"""JSON log lines: one object a line, so that a newline or an escape sequence in a value stays a value.

Fields: time, severity, message, event and what the caller adds (request_id, trace_id, client_uuid,
command_id, conversion_id, actor, duration_ms). The names `severity` and `message` are the ones that
Google Cloud Logging lifts out of a line.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

SEVERITIES = {
    logging.DEBUG: "DEBUG",
    logging.INFO: "INFO",
    logging.WARNING: "WARNING",
    logging.ERROR: "ERROR",
    logging.CRITICAL: "CRITICAL",
}


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
        return json.dumps(line, default=str)


def configure(component: str, stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Send every logger of this process to `stream` (standard error by default) as JSON lines."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for talkative in ("apscheduler", "alembic"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
    event("component_started", "component started", component=component)


def event(name: str, message: str, /, severity: int = logging.INFO, **fields: Any) -> None:
    """Log `message`, a constant, with what happened as fields; `name` is the word to search for."""
    logging.getLogger("signage").log(severity, message, extra={"fields": {"event": name, **fields}})


def failure(name: str, message: str, /, **fields: Any) -> None:
    """Log the exception being handled, with its traceback, without ending anything."""
    logging.getLogger("signage").error(
        message,
        exc_info=True,  # noqa: LOG014 - called from inside an except block
        extra={"fields": {"event": name, **fields}},
    )
