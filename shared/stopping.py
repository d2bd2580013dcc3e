"""How a process is told to stop."""

import signal
import threading
from typing import Final

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def stop_event() -> threading.Event:
    """An event that is set when SIGTERM or SIGINT comes. Call it in the main thread, before any other starts.

    The signals are blocked and a thread waits for them: a handler that sets an event runs in the middle of
    whatever the main thread does, and waits for ever when that holds the event's own lock.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    stop = threading.Event()

    def wait() -> None:
        signal.sigwait(STOP_SIGNALS)
        stop.set()

    threading.Thread(target=wait, name="stopping", daemon=True).start()
    return stop
