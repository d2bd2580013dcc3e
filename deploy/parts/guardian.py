"""Make sure that no process of the local stack outlives the one that started it.

Three mechanisms, each for the case in which the one before it fails:

1. The runner stops its services in order (`processes.py`).
2. `guard` runs the runner in a child process. When the runner dies, even by kill -9, the guardian
   becomes the parent of every process below it (it is the subreaper) and ends them all. When the
   guardian is killed, the runner gets SIGTERM and stops in order.
3. Each service is started through `setpriv --pdeathsig`: when guardian and runner are killed at the
   same moment, the kernel sends every service its stop signal.
"""

import ctypes
import os
import pwd
import signal
import subprocess
import time
import traceback
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

# <linux/prctl.h>
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _prctl(option: int, argument: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, argument, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def become_subreaper() -> None:
    """Let every descendant whose parent dies become a child of this process."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: signal.Signals, parent: int) -> None:
    """Get `number` when the thread that started this process ends; at once if `parent` is gone already."""
    _prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def parents() -> dict[int, int]:
    """The parent's id of every visible process, by its id."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # pid (command, any characters) state parent ...
                found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue  # ended while we looked
    return found


def descendants(ancestor: int) -> set[int]:
    """Every process below `ancestor`, at any depth, without itself."""
    parent_of = parents()
    below: set[int] = set()
    level = {ancestor}
    while level:
        level = {pid for pid, parent in parent_of.items() if parent in level} - below
        below |= level
    return below


def send(pid: int, number: signal.Signals) -> None:
    """Signal a process; does nothing when it has ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def send_group(group: int, number: signal.Signals) -> None:
    """Signal every process of a group; does nothing when the group is empty."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def reap() -> bool:
    """Reap every child that has ended; False when no child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def end_everything_below(grace_seconds: float) -> None:
    """Wait until every descendant has ended; after `grace_seconds` kill the rest.

    For the subreaper only, which becomes the parent of each orphan.
    """
    deadline = time.monotonic() + grace_seconds
    while reap():
        if time.monotonic() >= deadline:
            for pid in descendants(os.getpid()):
                send(pid, signal.SIGKILL)
        time.sleep(0.02)


def guard(run: Callable[[], int], grace_seconds: float = 8.0) -> int:
    """Run `run` in a child process, and wait until it and all its descendants have ended. Returns its exit code.

    Signals to this process are forwarded to the child. The code of a child that a signal killed is 128 + the signal.
    """
    become_subreaper()
    this = os.getpid()
    child = os.fork()
    if child == 0:
        _be_the_runner(run, this)
    for number in FORWARDED:
        signal.signal(number, lambda received, _frame: send(child, signal.Signals(received)))
    code = _exit_code_of(child)
    end_everything_below(grace_seconds)
    return code


def _be_the_runner(run: Callable[[], int], guardian: int) -> None:
    """Be the runner in the child process. Never returns.

    It has a session of its own, so that Ctrl-C or a kill of the terminal's group reaches only the guardian, and not the
    runner and its services.
    """
    code = 1
    try:
        os.setsid()
        die_with_parent(signal.SIGTERM, guardian)
        code = run()
    except BaseException:  # noqa: BLE001 - the top of the process shows every error
        traceback.print_exc()
    finally:
        # Without flushing, which would wait for ever when nobody reads the output; the console flushes each line.
        os._exit(code)


def _exit_code_of(child: int) -> int:
    """Wait for `child`, and reap orphans that end meanwhile."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def user_namespaces_work() -> bool:
    """Whether root may start a process in a new user namespace (containers often forbid it).

    LOCAL_USER_NAMESPACES=0 means no, without a test.
    """
    return os.environ.get("LOCAL_USER_NAMESPACES", "1") != "0" and _user_namespaces_probed()


@cache
def _user_namespaces_probed() -> bool:
    probe = subprocess.run(
        ["unshare", "-U", "--map-user=65534", "--map-group=65534", "true"], check=False, capture_output=True
    )
    return probe.returncode == 0


def launch(command: Iterable[str], stop_signal: signal.Signals, user: str | None = None) -> list[str]:
    """The command line that starts `command` with its death signal and, if `user` is given, without root's rights.

    Postgres refuses to run as root; mosquitto and nginx should not. When root starts a program with a `user`, the
    program runs in a user namespace as user 65534: its files stay root's, no file is chowned, and it has no capability
    outside. Without user namespaces it runs as `user`, and keeps one capability, to reach its files below folders that
    only root may enter; `own` then gives it its folders. The death signal is set last, because a change of user
    clears it.
    """
    death = ["--pdeathsig", stop_signal.name.removeprefix("SIG")]
    if user is None or os.geteuid() != 0:
        return ["setpriv", *death, *command]
    if user_namespaces_work():
        return ["unshare", "-U", "--map-user=65534", "--map-group=65534", "setpriv", *death, *command]
    reach = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    return ["setpriv", *_become(user), *reach, *death, *command]


def _become(user: str) -> list[str]:
    account = pwd.getpwnam(user)
    return ["--reuid", str(account.pw_uid), "--regid", str(account.pw_gid), "--clear-groups"]


def own(path: Path, user: str) -> None:
    """Make `user` the owner of `path`, but only if `launch` really changes the user."""
    if os.geteuid() != 0 or user_namespaces_work():
        return
    account = pwd.getpwnam(user)
    os.chown(path, account.pw_uid, account.pw_gid)


def existing_user(*names: str) -> str:
    """The first of these system users that exists (a package may not have created its own)."""
    for name in names:
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return "nobody"
