"""Raises the limit of open files, starts a process that asks mosquitto to save, and becomes mosquitto with its plugin.

    python broker_launch.py PERSISTENCE_FOLDER PROGRAM ARGUMENTS...

Mosquitto saves all queued messages in one go and answers no client meanwhile. Its own `autosave_interval` counts from
the beginning of a save. If a save takes longer than the interval, the next one follows at once, and mosquitto reads one
packet of each client in between. A bridge that comes back then acknowledges one message for each save, and the backlog
never shrinks. So the process asks for each save (SIGUSR1): a second after the last one, and no sooner than four times
the length of the last one.

It also notes crashes. The broker's plugin (broker_door.c) makes the file RUNNING when the broker serves, and removes it
when the broker ends in order. If the file exists at the next start, the broker crashed, was killed or lost its machine:
a line is added to CRASHES. It also notes how many files the broker has open (each connection is a file, and at the
limit no client can connect) and how much memory it takes. `broker_accounts` stores both notes in the database.

The plugin is loaded before all other libraries (LD_PRELOAD): it limits what strangers can take.

It is started by its path and uses only the standard library, because it stays in memory as long as the broker runs.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from pathlib import Path

OPEN_FILES = 65_536  # each display needs one; Debian's default is 1,024, which a program may raise
SECONDS_BETWEEN_SAVES = 1.0
SAVES_REST = 4.0  # the pause after a save, in lengths of that save: saves take at most a fifth of the time
LONGEST_SAVE_SECONDS = 120.0  # then the save failed: ask again
LOOK_SECONDS = 0.02
SAVED, RUNNING, CRASHES = "mosquitto.db", "broker.running", "broker.crashes"  # in the broker's folder
FILES = "broker.files"  # in the same folder: how many files the broker has open and may open; its memory in bytes
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
    """The identity of a save (inode and time of the file); None before the first."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _catches(pid: int, number: signal.Signals) -> bool:
    """Whether the process has a handler for this signal; without one the signal would kill it."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    caught = next(line.split()[1] for line in lines if line.startswith("SigCgt:"))
    return bool(int(caught, 16) & 1 << (number - 1))


def _save(broker: int, file: Path) -> float:
    """Ask for one save and wait for its end. Returns the seconds that it took."""
    before, began = _saved(file), time.monotonic()
    os.kill(broker, signal.SIGUSR1)
    while _saved(file) == before and time.monotonic() - began < LONGEST_SAVE_SECONDS:
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - began


def _keep_saving(broker: int, file: Path) -> None:
    """Ask for saves until the broker, the parent of this process, ends. Its end kills this process too."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    while os.getppid() == broker and not _catches(broker, signal.SIGUSR1):
        time.sleep(LOOK_SECONDS)
    while os.getppid() == broker:
        rest = rest_seconds(_save(broker, file))
        with contextlib.suppress(OSError):  # saving must go on without the note
            note_files(broker, file.parent)
        time.sleep(rest)


def note_files(broker: int, folder: Path) -> None:
    """Note how many files the broker has open and may open, and its memory. Raises OSError."""
    opened, draft = len(os.listdir(f"/proc/{broker}/fd")), folder / f".{FILES}"  # noqa: PTH208 - names are enough
    pages = int(Path(f"/proc/{broker}/statm").read_text(encoding="ascii").split()[1])
    draft.write_text(f"{opened} {may_open_files()} {pages * resource.getpagesize()}\n", encoding="ascii")
    draft.replace(folder / FILES)


def note_crash(folder: Path) -> None:
    """Add a line to CRASHES if the last broker of this folder did not end in order. Raises OSError."""
    if not (folder / RUNNING).exists():
        return
    crashes, draft = folder / CRASHES, folder / f".{CRASHES}"
    before = crashes.read_text(encoding="ascii").splitlines() if crashes.exists() else []
    lines = [*before, f"{time.time():.3f}"][-CRASHES_KEPT:]
    draft.write_text("\n".join(lines) + "\n", encoding="ascii")
    draft.replace(crashes)
    (folder / RUNNING).unlink()


def for_the_plugin(command: list[str]) -> dict[str, str]:
    """The variables with which the plugin that the configuration of this command line names is loaded first.

    LD_PRELOAD takes no path with a space or a colon, so it names a file descriptor. The plugin reads MOSQUITTO_VERSION.
    Raises OSError.
    """
    lines = Path(command[command.index("-c") + 1]).read_text(encoding="utf-8").splitlines() if "-c" in command else []
    path = next((line.removeprefix("plugin ").strip() for line in lines if line.startswith("plugin ")), None)
    if path is None:
        return {}
    opened = os.open(path, os.O_RDONLY)
    os.set_inheritable(opened, True)
    return {"LD_PRELOAD": f"/proc/self/fd/{opened}", "MOSQUITTO_VERSION": version(command[0])}


def version(program: str) -> str:
    """The version of this mosquitto; "" when it does not say one. Raises OSError."""
    import subprocess  # noqa: PLC0415 - not for the process that stays in memory

    help_text = subprocess.run([program, "-h"], capture_output=True, text=True, check=False).stdout
    return help_text.partition("mosquitto version ")[2].split("\n")[0]


def main(folder: Path, command: list[str]) -> None:
    """Become the broker, so that signals to this process reach the broker itself. Never returns."""
    with contextlib.suppress(OSError, UnicodeError):  # the broker must start without the note
        note_crash(folder)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (may_open_files(), most))
    this = os.getpid()
    if os.fork() == 0:
        with contextlib.suppress(OSError, StopIteration):  # the broker is gone
            _keep_saving(this, folder / SAVED)
        os._exit(0)
    environment = {**os.environ, **for_the_plugin(command)}
    os.execve(command[0], command, environment)  # noqa: S606 - the broker's own command line


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
