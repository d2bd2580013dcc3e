"""Displays' log lines for a log store that takes OTLP: `python -m deploy.neighbours.otlp` until SIGTERM.

It reads the API and posts to a collector, Loki, or what else takes OTLP over HTTP as JSON. It sends a line again until
the receiver takes it. It skips a line that the receiver calls malformed, and logs its id.

    SIGNAGE_API_URL, SIGNAGE_API_TOKEN     a viewer's token for all sites
    OTLP_LOGS_URL                          such as http://127.0.0.1:4318/v1/logs
    OTLP_AUTHORIZATION                     the header `Authorization` for it; may be missing
    OTLP_STATE_FILE                        where it keeps how far it is
    OTLP_START                             now, or oldest: where it begins at the first time
"""

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import requests

from deploy.neighbours import otlp_rules as rules
from deploy.neighbours.api import NOT_NOW, Api, Authorization, Misconfigured, Refused, Unanswered, check_url, needed
from deploy.neighbours.otlp_rules import Line
from shared import typed
from shared.stopping import stop_event
from shared.structured_log import Outage, configure, event
from shared.version import version

POLL_SECONDS: Final = 2.0
LONGEST_PAUSE_SECONDS: Final = 60.0
LINES: Final = 500  # in one request: half a megabyte at most times, and 33 MB with the longest lines
RECEIVER_SECONDS: Final = (5.0, 30.0)  # for a connection, and for the next bytes
MALFORMED: Final = (400, 413, 422)
STARTS: Final = ("now", "oldest")


@dataclass(frozen=True)
class Settings:
    """The settings, from the environment."""

    api_url: str
    token: str = field(repr=False)
    logs_url: str
    authorization: str = field(repr=False)
    state: Path
    start: str

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """Raises Misconfigured."""
        api_url, logs_url = (needed(environment, name) for name in ("SIGNAGE_API_URL", "OTLP_LOGS_URL"))
        check_url("SIGNAGE_API_URL", api_url, ("http", "https"))
        check_url("OTLP_LOGS_URL", logs_url, ("http", "https"))
        start = environment.get("OTLP_START") or "now"
        if start not in STARTS:
            raise Misconfigured(f"OTLP_START: expected {' or '.join(STARTS)}")
        return cls(
            api_url.rstrip("/"),
            needed(environment, "SIGNAGE_API_TOKEN"),
            logs_url,
            environment.get("OTLP_AUTHORIZATION", ""),
            Path(needed(environment, "OTLP_STATE_FILE")),
            start,
        )


class _Feed(msgspec.Struct):
    items: list[Line]
    next_cursor: str


class _Partly(msgspec.Struct, rename="camel"):
    rejected_log_records: int | str = 0
    error_message: str = ""


class _Taken(msgspec.Struct, rename="camel"):
    partial_success: _Partly | None = None


class Malformed(Exception):
    """The receiver says that a request is malformed or too large; the message says how."""


class Receiver:
    """What takes the lines."""

    def __init__(self, settings: Settings) -> None:
        """Does not connect yet."""
        self._url = settings.logs_url
        self._session = requests.Session()
        self._session.auth = Authorization(settings.authorization)
        self._session.headers["Content-Type"] = "application/json"

    def take(self, lines: Sequence[Line]) -> list[tuple[Line, str]]:
        """Send these lines. Returns the malformed ones, each with its status. Raises Unanswered or Refused."""
        try:
            self._post(lines)
        except Malformed as error:
            if len(lines) == 1:
                return [(lines[0], str(error))]
            half = len(lines) // 2
            return self.take(lines[:half]) + self.take(lines[half:])
        return []

    def check(self) -> None:
        """Send a request without lines. Raises Refused if the receiver calls even that malformed, or Unanswered."""
        try:
            self._post([])
        except Malformed as error:
            raise Refused(f"every request: {error}") from error

    def _post(self, lines: Sequence[Line]) -> None:
        try:
            answer = self._session.post(
                self._url, data=rules.request(lines), timeout=RECEIVER_SECONDS, allow_redirects=False
            )
        except (requests.RequestException, OSError) as error:
            raise Unanswered(type(error).__name__) from error
        if answer.status_code in MALFORMED:
            raise Malformed(f"status {answer.status_code}")
        if answer.status_code in NOT_NOW:
            raise Unanswered(f"status {answer.status_code}")
        if not answer.ok or answer.is_redirect:
            raise Refused(f"status {answer.status_code}")
        _tell_rejected(answer.content)


def _tell_rejected(answer: bytes) -> None:
    """Tell how many lines of a request were not taken."""
    try:
        partly = typed.decode(answer, _Taken).partial_success if answer else None
    except msgspec.DecodeError:
        return  # the status says that they were taken
    if partly and int(partly.rejected_log_records):
        reason, number = partly.error_message, int(partly.rejected_log_records)
        event("otlp_lines_rejected", "the receiver left lines out", number=number, reason=reason)


class Forwarder:
    """How far the lines are sent, kept in a file."""

    def __init__(self, settings: Settings) -> None:
        """Goes on where the file says. Raises OSError."""
        self._api, self._receiver = Api(settings.api_url, settings.token), Receiver(settings)
        self._state, self._start = settings.state, settings.start
        self._cursor = self._state.read_text(encoding="ascii").strip() if self._state.exists() else ""

    def round(self) -> bool:
        """Send the next lines. Returns whether others may wait. Raises Unanswered, Refused, DecodeError or OSError."""
        query: dict[str, Any] = {"limit": LINES, "start": self._start}
        if self._cursor:
            query["cursor"] = self._cursor
        found = typed.decode(self._api.ask("GET", "/api/client-logs/feed", params=query), _Feed)
        refused = self._receiver.take(found.items) if found.items else []
        if refused:
            self._receiver.check()  # a wrong address or setting, also one mended meanwhile, is not the lines' fault
        malformed = [again for line, _ in refused for again in self._receiver.take([line])]
        for line, reason in malformed:
            event("otlp_line_refused", "the receiver refuses a line", line=line.id, reason=reason)
        if found.next_cursor != self._cursor:
            self._keep(found.next_cursor)
        return len(found.items) == LINES

    def _keep(self, cursor: str) -> None:
        """Replace the file, whole also after a power cut."""
        beside = self._state.with_name(f"{self._state.name}.new")
        with beside.open("w", encoding="ascii") as file:
            file.write(cursor)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._state)
        self._cursor = cursor


def run(forwarder: Forwarder, stop: threading.Event) -> None:
    """Serve until `stop`. What fails is tried again, ever less often."""
    away, pause = Outage("otlp"), POLL_SECONDS
    while not stop.is_set():
        try:
            waiting = forwarder.round()
        except (Unanswered, Refused, msgspec.DecodeError, OSError) as error:
            away.began(error, reason=str(error))
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            stop.wait(pause)
            continue
        away.over()
        pause = POLL_SECONDS
        if not waiting:
            stop.wait(POLL_SECONDS)


def main() -> int:
    """Run until SIGTERM or SIGINT. Returns the exit code: 2 after a configuration error."""
    configure("otlp", version=version())
    try:
        forwarder = Forwarder(Settings.read(os.environ))
    except (Misconfigured, OSError, ValueError) as error:
        event("configuration_error", str(error))
        return 2
    run(forwarder, stop_event())
    return 0


if __name__ == "__main__":
    sys.exit(main())
