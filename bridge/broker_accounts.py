"""`python -m bridge.broker_accounts`: keeps Mosquitto's password file for displays equal to Postgres.

It stands beside the broker, reads the logins that are neither revoked nor of a deleted client, and never
connects to the broker. Only hashes are stored, so only hashes are written.
"""

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from bridge.stopping import stop_event
from shared.access.enrolment import store
from shared.config import load
from shared.db import is_away, make_engine, said_by_postgres, snapshot
from shared.errors import ConfigurationError
from shared.structured_log import Outage, configure, event, failure

LOOK_SECONDS: Final = 0.25  # from the end of a look to the next one, where looking is cheap
SIGNAL_SECONDS: Final = 1.0  # at most one signal in this time, and at least one look
LOOKING_SHARE: Final = 0.05  # of the time goes to looking at most, while that means a look in SIGNAL_SECONDS
NEW_FILE_MODE: Final = 0o640
SIGHUP_BIT: Final = 1 << (signal.SIGHUP - 1)


class Accounts:
    """The password file and the broker that reads it."""

    def __init__(self, engine: Engine, password_file: Path, pid_file: Path, services_file: Path | None = None) -> None:
        """Nothing is read yet. The lines of `services_file` go before the displays' ones."""
        self._engine = engine
        self._services_file = services_file
        self._password_file = password_file
        self._pid_file = pid_file
        self._digest: str | None = None  # of the logins that the file holds
        self._must_tell = False  # the broker has not been told of the file's content
        self._told_at = -SIGNAL_SECONDS  # monotonic

    def keep_up(self) -> None:
        """Look once: write the file when the logins changed, and tell the broker when the file did.

        A change that comes too soon after the last signal is written at once and told with a later look.

        Raises:
            SQLAlchemyError, OSError: the database or the file cannot be used; look again later.
        """
        if not self._password_file.exists():
            self._digest = None
        with snapshot(self._engine) as connection:  # the digest is of these very logins
            digest = store.live_logins_digest(connection)
            logins = store.live_logins(connection) if digest != self._digest else None
        if logins is not None:
            services = self._services_file.read_bytes() if self._services_file is not None else b""
            if write_if_changed(self._password_file, services + render(logins)):
                self._must_tell = True
                event("accounts_written", "the displays' logins changed", logins=len(logins))
            self._digest = digest
        if self._must_tell and time.monotonic() - self._told_at >= SIGNAL_SECONDS and tell(self._pid_file):
            self._must_tell, self._told_at = False, time.monotonic()
            event("accounts_told", "the broker reads the displays' logins anew")

    def pause(self, look_seconds: float) -> float:
        """Seconds until the next look: short while a look is cheap, for taking a login back must not take long.

        What is written and may not be told yet is told as soon as it may.
        """
        usual = min(SIGNAL_SECONDS, max(LOOK_SECONDS, look_seconds / LOOKING_SHARE))
        until_told = self._told_at + SIGNAL_SECONDS - time.monotonic()
        return min(usual, until_told) if self._must_tell and until_told > 0 else usual


def render(logins: Iterable[tuple[str, str]]) -> bytes:
    """The password file of these (user name, hash)."""
    return "".join(f"{name}:{password_hash}\n" for name, password_hash in logins).encode()


def write_if_changed(path: Path, content: bytes) -> bool:
    """Put `content` there in one step, with the owner and mode of the file that it replaces; False when it is there.

    Raises:
        OSError: the folder cannot be written; the file is as it was.
    """
    before = path.stat() if path.exists() else None
    if before is not None and path.read_bytes() == content:
        return False
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            _take_over(file.fileno(), before)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _sync_folder(path.parent)
    return True


def _take_over(descriptor: int, before: os.stat_result | None) -> None:
    """The broker must be able to read it: owner, group and mode stay as whoever set the broker up made them."""
    os.fchmod(descriptor, NEW_FILE_MODE if before is None else before.st_mode & 0o777)
    own = os.fstat(descriptor)
    if before is not None and (before.st_uid, before.st_gid) != (own.st_uid, own.st_gid):
        os.fchown(descriptor, before.st_uid, before.st_gid)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def tell(pid_file: Path) -> bool:
    """Send SIGHUP to the broker; False when there is none, or none yet that would survive it.

    A process that is no mosquitto (the number was given to another one), or that has not yet said what it
    does at SIGHUP, is left alone.
    """
    try:
        pid = int(pid_file.read_text().split()[0])
        status = Path(f"/proc/{pid}/status").read_text()
    except (OSError, ValueError, IndexError):
        return False
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    catches = int(fields.get("SigCgt", "0").strip(), 16) & SIGHUP_BIT
    if fields.get("Name", "").strip() != "mosquitto" or not catches:
        return False
    try:
        os.kill(pid, signal.SIGHUP)
    except ProcessLookupError:
        return False
    return True


def main() -> int:
    """The process's exit code: 0 after SIGTERM or SIGINT, 2 when it may not start."""
    configure("broker_accounts")
    try:
        config = load(required=("DATABASE_URL",))
        for name in ("DISPLAYS_PASSWORD_FILE", "BROKER_PID_FILE"):
            if not config[name]:
                raise ConfigurationError(f"{name} is not set.")  # noqa: TRY301 - one place says why it does not start
    except ConfigurationError as error:
        event("configuration_error", error.detail)
        return 2
    stop = stop_event()
    engine = make_engine(config, "broker_accounts")
    services = config["SERVICES_PASSWORD_FILE"]
    files = (Path(config["DISPLAYS_PASSWORD_FILE"]), Path(config["BROKER_PID_FILE"]))
    watch(Accounts(engine, *files, Path(services) if services else None), stop)
    engine.dispose()
    return 0


def watch(accounts: Accounts, stop: threading.Event) -> None:
    """Keep up until `stop` is set; a database or disk that is away is waited for."""
    outage, is_faulty = Outage("database"), False
    while not stop.is_set():
        began = time.monotonic()
        try:
            accounts.keep_up()
            outage.over()
            is_faulty = False
        except Exception as error:  # noqa: BLE001 - whatever it is, the next look begins anew
            if is_away(error):
                outage.began(error, **said_by_postgres(error))
            elif not is_faulty:
                is_faulty = True
                failure("accounts_stuck", "the displays' logins cannot be brought up to date")
        stop.wait(accounts.pause(time.monotonic() - began))


if __name__ == "__main__":
    sys.exit(main())
