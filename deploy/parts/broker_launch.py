"""Becomes mosquitto, with as many open files as it may have and a process beside it that asks it to save.

    python broker_launch.py PERSISTENCE_FOLDER PROGRAM ARGUMENTS...

Mosquitto writes everything that waits in one piece and answers nobody meanwhile. Its own `autosave_interval` counts
from the beginning of a save: one that takes longer is followed at once by the next, with a single packet of each
client in between, and a bridge that comes back acknowledges one message for each save; the backlog never gets
smaller. So the save is asked for from outside (SIGUSR1): a second after the last one, and no sooner than four times
as long as that one took.

It also notes crashes. The broker's plugin (broker_door.c) makes the file RUNNING when the broker serves, and removes it
when the broker ends in order. A broker that finds it when it starts follows one that crashed, was killed or lost its
machine: a line in CRASHES, which `python -m bridge.broker_accounts` carries to the database. So it does with how many
files the broker has open: connections are files, and where there are no more, nobody comes in.

Started by its path and on the standard library alone: it stays beside the broker for as long as that runs.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from pathlib import Path

OPEN_FILES = 65_536  # each display is one; Debian gives a program 1,024 and lets it ask for more
SECONDS_BETWEEN_SAVES = 1.0
SAVES_REST = 4.0  # the pause after a save, in lengths of that save: at most a fifth of the time goes to saves
LONGEST_SAVE_SECONDS = 120.0  # after that it is asked again: it could not write
LOOK_SECONDS = 0.02
SAVED, RUNNING, CRASHES = "mosquitto.db", "broker.running", "broker.crashes"  # in the broker's folder
FILES = "broker.files"  # there too: how many files the broker has open, and may open
CRASHES_KEPT = 100
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def may_open_files() -> int:
    """How many files the broker may open here."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    return OPEN_FILES if most == resource.RLIM_INFINITY else min(most, OPEN_FILES)


def rest_seconds(save_seconds: float) -> float:
    """The pause after a save that took `save_seconds`."""
    return max(SECONDS_BETWEEN_SAVES, SAVES_REST * save_seconds)


def _saved(file: Path) -> tuple[int, int] | None:
    """What tells one save of the file from the next; None before the first."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _catches(pid: int, number: signal.Signals) -> bool:
    """Whether the process handles this signal; until then the signal would end it."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    caught = next(line.split()[1] for line in lines if line.startswith("SigCgt:"))
    return bool(int(caught, 16) & 1 << (number - 1))


def _save(broker: int, file: Path) -> float:
    """Ask for one save and wait for its end; the seconds that it took."""
    before, began = _saved(file), time.monotonic()
    os.kill(broker, signal.SIGUSR1)
    while _saved(file) == before and time.monotonic() - began < LONGEST_SAVE_SECONDS:
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - began


def _keep_saving(broker: int, file: Path) -> None:
    """Until the broker, which is this process's parent, ends; that ends this process too."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    while os.getppid() == broker and not _catches(broker, signal.SIGUSR1):
        time.sleep(LOOK_SECONDS)
    while os.getppid() == broker:
        rest = rest_seconds(_save(broker, file))
        with contextlib.suppress(OSError):  # a save matters more
            note_files(broker, file.parent)
        time.sleep(rest)


def note_files(broker: int, folder: Path) -> None:
    """Write down how many files the broker has open, and may open. Raises OSError."""
    opened, draft = len(os.listdir(f"/proc/{broker}/fd")), folder / f".{FILES}"  # noqa: PTH208 - names are enough
    draft.write_text(f"{opened} {may_open_files()}\n", encoding="ascii")
    draft.replace(folder / FILES)


def note_crash(folder: Path) -> None:
    """A line in CRASHES when the last broker on this folder did not end in order. Raises OSError."""
    if not (folder / RUNNING).exists():
        return
    crashes, draft = folder / CRASHES, folder / f".{CRASHES}"
    before = crashes.read_text(encoding="ascii").splitlines() if crashes.exists() else []
    lines = [*before, f"{time.time():.3f}"][-CRASHES_KEPT:]
    draft.write_text("\n".join(lines) + "\n", encoding="ascii")
    draft.replace(crashes)
    (folder / RUNNING).unlink()


def main(folder: Path, command: list[str]) -> None:
    """Never returns: this process becomes the broker, so that signals to it reach the broker itself."""
    with contextlib.suppress(OSError, UnicodeError):  # serving matters more than counting crashes
        note_crash(folder)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (may_open_files(), most))
    this = os.getpid()
    if os.fork() == 0:
        with contextlib.suppress(OSError, StopIteration):  # the broker is gone
            _keep_saving(this, folder / SAVED)
        os._exit(0)
    os.execv(command[0], command)  # noqa: S606 - the broker's own command line


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
