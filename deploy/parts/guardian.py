"""Nothing stays behind: how the local stack's processes are tied to the one that started them.

Three ties, each for the case in which the one before it is gone:

1. The runner stops its services in order (`processes.py`).
2. `guard` runs the runner in a child of its own. When the runner dies, even by kill -9, every
   process below it is handed to the guardian (it is the subreaper), which ends them all. When the
   guardian is killed, the runner gets SIGTERM and stops in order.
3. Each service is started through `setpriv --pdeathsig`: when both are killed in the same moment,
   the kernel sends every service its own stop signal.
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
    """From now on a descendant whose parent dies becomes a child of this process."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: signal.Signals, parent: int) -> None:
    """Get `number` when the thread that started this process ends; at once if `parent` is gone already."""
    _prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def parents() -> dict[int, int]:
    """Every process that can be seen now: its id and its parent's id."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # pid (command, which may hold anything) state parent ...
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
    """Signal a process; one that has ended already is fine."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def send_group(group: int, number: signal.Signals) -> None:
    """Signal every process of a group; an empty one is fine."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def reap() -> bool:
    """Collect every child that has ended; False when there is no child left at all."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def end_everything_below(grace_seconds: float) -> None:
    """Wait until every descendant has ended by itself; after `grace_seconds` kill what is left.

    For the subreaper only: each orphan on the way becomes a child of this process.
    """
    deadline = time.monotonic() + grace_seconds
    while reap():
        if time.monotonic() >= deadline:
            for pid in descendants(os.getpid()):
                send(pid, signal.SIGKILL)
        time.sleep(0.02)


def guard(run: Callable[[], int], grace_seconds: float = 8.0) -> int:
    """Run `run` in a child and answer its exit code when it and everything below it has ended.

    Signals to this process go on to the child. A child ended by a signal answers 128 + its number.
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
    """Never returns.

    A session of its own, so that a Ctrl-C or a kill of the terminal's group reaches the guardian and
    not the runner and its services.
    """
    code = 1
    try:
        os.setsid()
        die_with_parent(signal.SIGTERM, guardian)
        code = run()
    except BaseException:  # noqa: BLE001 - this is the top of the process: whatever it was is shown
        traceback.print_exc()
    finally:
        # Without flushing: the console flushes each line, and when nobody reads it would wait for ever here.
        os._exit(code)


def _exit_code_of(child: int) -> int:
    """Wait for `child`, collecting orphans that end meanwhile."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def user_namespaces_work() -> bool:
    """Whether root may start a process in a user namespace of its own here (containers often forbid it).

    LOCAL_USER_NAMESPACES=0 says no without asking.
    """
    return os.environ.get("LOCAL_USER_NAMESPACES", "1") != "0" and _user_namespaces_probed()


@cache
def _user_namespaces_probed() -> bool:
    probe = subprocess.run(
        ["unshare", "-U", "--map-user=65534", "--map-group=65534", "true"], check=False, capture_output=True
    )
    return probe.returncode == 0


def launch(command: Iterable[str], stop_signal: signal.Signals, user: str | None = None) -> list[str]:
    """`command` as it is started here: with its death signal, and without root's power when `user` is given.

    Postgres refuses to run as root, mosquitto and nginx should not. Started by root with a `user`, the
    program runs in a user namespace in which it is 65534: files stay root's, nothing is chowned, and it has
    no capability outside. Without user namespaces it becomes `user` and keeps the one capability of
    reaching its files below folders that are root's alone; `own` hands it its folders then.
    The death signal is set last, since a change of user clears it.
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
    """Give `path` to `user` where `launch` really changes the user; otherwise leave it as it is."""
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
