"""One terminal for many processes: prefixed, coloured lines that never block the runner.

A paused terminal or a pipe without a reader would block the runner, and then every service that waits to write its log.
So a separate thread writes. When more than `BACKLOG` lines wait, further lines are dropped and counted.
"""

import contextlib
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Callable
from typing import Final, TextIO

BACKLOG: Final = 5000
LINE_MAX: Final = 8192  # characters; a longer line is cut
COLOURS: Final = (36, 33, 35, 32, 34, 96, 93, 95, 92, 94)
NAME_WIDTH: Final = 15
UNSEEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
ROUTINE: Final = frozenset({"request answered", "ticked"})
BAD_REQUEST: Final = 400
NOTHING_AWAITED: Final[tuple[str, Callable[[], None]]] = ("\x00", lambda: None)
UNSHOWN: Final = frozenset({"time", "severity", "message", "logger", "event", "component", "exception"})


class Console:
    """Takes lines from any thread and writes them in order."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """`stream` is standard output by default. Colours are used only on a terminal without NO_COLOR.

        A terminal shows no routine lines, unless LOCAL_LOG_ALL is set.
        """
        self._stream = stream or sys.stdout
        self._coloured = self._stream.isatty() and "NO_COLOR" not in os.environ
        self._lines: queue.Queue[str | None] = queue.Queue(BACKLOG)
        self._dropped = 0
        self._colour_of: dict[str, int] = {}
        self._is_for_reading = self._stream.isatty() and "LOCAL_LOG_ALL" not in os.environ
        self._awaited = NOTHING_AWAITED
        self._thread = threading.Thread(target=self._write, name="console", daemon=True)
        self._thread.start()

    def say(self, text: str) -> None:
        """Write a line of the runner itself."""
        self._put(text)

    def log(self, name: str, text: str) -> None:
        """Write a line of the service `name`; a JSON line is made readable."""
        if self._is_for_reading and is_routine(text):
            return
        for line in visible(readable(text[:LINE_MAX])).split("\n"):
            self._put(f"{self._prefix(name)} {line}")
        words, tell = self._awaited
        if words in text:
            self._awaited = NOTHING_AWAITED
            tell()

    def tell_after(self, words: str, tell: Callable[[], None]) -> None:
        """Call `tell` once, after the next line of a service with these words."""
        self._awaited = (words, tell)

    def close(self, seconds: float = 1.0) -> None:
        """Write the waiting lines, for at most `seconds`: a missing reader must not delay the exit."""
        with contextlib.suppress(queue.Full):
            self._lines.put(None, timeout=seconds)
        self._thread.join(seconds)

    def _prefix(self, name: str) -> str:
        label = f"{name:<{NAME_WIDTH}}│"
        colour = self._colour_of.setdefault(name, COLOURS[len(self._colour_of) % len(COLOURS)])
        return f"\x1b[{colour}m{label}\x1b[0m" if self._coloured else label

    def _put(self, text: str) -> None:
        try:
            self._lines.put_nowait(text)
        except queue.Full:
            self._dropped += 1

    def _write(self) -> None:
        while (text := self._lines.get()) is not None:
            if self._dropped:
                missed, self._dropped = self._dropped, 0
                self._emit(f"({missed} lines were dropped: nobody read them)")
            self._emit(text)

    def _emit(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone; the stack goes on
            self._stream.write(text + "\n")
            self._stream.flush()


def is_routine(text: str) -> bool:
    """Whether a line says that a request was answered or that a tick ran, and that nothing was wrong.

    A terminal leaves these out, because hundreds of them push everything else away. A file gets all lines.
    """
    if not text.startswith("{"):
        return False
    try:
        fields = json.loads(text)
    except ValueError:
        return False
    if not isinstance(fields, dict) or fields.get("severity") != "INFO" or fields.get("message") not in ROUTINE:
        return False
    status = fields.get("status")
    return not fields.get("failed") and not (isinstance(status, int) and status >= BAD_REQUEST)


def readable(text: str) -> str:
    """A line of structured_log as `SEVERITY message field=value ...`, with its traceback; other lines unchanged."""
    if not text.startswith("{"):
        return text
    try:
        fields = json.loads(text)
        words = [] if fields["severity"] == "INFO" else [fields["severity"]]
        words.append(fields["message"])
    except (ValueError, KeyError):
        return text
    shown = {name: value for name, value in fields.items() if name not in UNSHOWN and value is not None}
    words += [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in shown.items()]
    traceback = fields.get("exception")
    return " ".join(words) + (f"\n{traceback}" if traceback else "")


def visible(text: str) -> str:
    """The text with visible signs in place of control and invisible characters; tabs and line ends stay.

    nginx logs the requests of strangers unchanged: they could set colours, clear the screen or reverse the text.
    """
    return UNSEEN.sub(lambda one: _sign(ord(one[0])), text)


def _sign(code: int) -> str:
    """The sign of a character, like on the dashboard: ␛ for a control character, ‹U+202E› for one without a sign."""
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"‹U+{code:04X}›"
