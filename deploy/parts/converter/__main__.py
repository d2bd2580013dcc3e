"""Start the converter: one process and one listening socket; SIGTERM removes all its processes and files.

The order: take the folder's lock, start the engine, serve until a signal, stop accepting, kill the LibreOffice
processes, give open requests a moment for their answers, exit.
"""

import fcntl
import os
import signal
import sys
import threading
from pathlib import Path
from typing import IO

from werkzeug.serving import WSGIRequestHandler, make_server

from deploy.parts.converter import settings as converter_settings
from deploy.parts.converter.engine import Engine
from deploy.parts.converter.web import Application
from shared import structured_log
from shared.errors import ConfigurationError
from shared.structured_log import event

SILENCE_SECONDS = 60  # an idle connection is closed after this time
LAST_ANSWERS_SECONDS = 3


class Handler(WSGIRequestHandler):
    """One connection. Requests are logged by the application, as JSON."""

    timeout = SILENCE_SECONDS

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002 - werkzeug's name
        """Log nothing: malformed requests on a loopback port do not matter."""


def main() -> int:
    """Serve until SIGTERM or SIGINT. Returns the exit code: 0, or 2 when it cannot start."""
    structured_log.configure("converter")
    try:
        settings = converter_settings.load()
        lock = take_lock(settings.folder)
    except (ConfigurationError, OSError) as error:
        event("converter_not_started", "the converter cannot start", 50, reason=str(error))
        return 2
    with lock:
        serve(settings)
    return 0


def take_lock(folder: Path) -> IO[str]:
    """The open lock file beside `folder`. Raises BlockingIOError when another converter uses it."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder.with_suffix(".lock").open("w", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def serve(settings: converter_settings.Settings) -> None:
    """Open the port, start the engine, and answer until a signal comes."""
    engine = Engine(settings.folder, settings.allow_unsandboxed)
    application = Application(settings, engine)
    server = make_server("127.0.0.1", settings.port, application, threaded=True, request_handler=Handler)
    told, tell = os.pipe()
    for number in (signal.SIGTERM, signal.SIGINT):
        # a pipe, not a threading.Event: the signal may interrupt the thread that holds the event's lock
        signal.signal(number, lambda *_: os.write(tell, b"."))
    engine.start()
    threading.Thread(target=server.serve_forever, name="accept", daemon=True).start()
    event("converter_listening", "the converter listens", port=settings.port)
    os.read(told, 1)
    server.shutdown()
    engine.stop()
    application.under_way.wait_for_none(LAST_ANSWERS_SECONDS)
    server.server_close()


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # connections that hang in a read must not delay the exit
