"""The stop signal of a process."""

import signal
import threading
from typing import Final

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def stop_event() -> threading.Event:
    """An event that is set when SIGTERM or SIGINT comes. Call it in the main thread, before any other starts.

    A thread waits for the blocked signals. A signal handler would interrupt the main thread and would wait for ever if
    the main thread held the event's lock.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    stop = threading.Event()

    def wait() -> None:
        signal.sigwait(STOP_SIGNALS)
        stop.set()

    threading.Thread(target=wait, name="stopping", daemon=True).start()
    return stop
