"""`python -m bridge.broker_accounts`: keeps the displays' logins that the broker reads equal to Postgres.

It stands beside the broker, reads the logins that are neither revoked nor of a deleted client, and never connects to
the broker, whose plugin reads the file anew when it has changed (`deploy/parts/broker_door.c`). Only hashes are stored,
so only hashes are written. It also carries to the database what the broker's launcher notes of crashes and open files,
and looks when the doors' certificates end (`bridge/certificates.py`).
"""

import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from bridge.certificates import Certificates, doors
from bridge.stopping import stop_event
from shared.access import enrolment_store
from shared.config import load
from shared.errors import ConfigurationError
from shared.leadership import store as leadership
from shared.postgres.door import is_away, make_engine, said_by_postgres, snapshot, transaction
from shared.structured_log import Outage, configure, event, failure

LOOK_SECONDS: Final = 0.25  # from the end of a look to the next one, where looking is cheap
FILE_STEPS: Final = 100  # a per cent more or less is written down
LONGEST_LOOK_SECONDS: Final = 1.0  # at least one look in this time
LOOKING_SHARE: Final = 0.05  # of the time goes to looking at most, while that means a look in LONGEST_LOOK_SECONDS
FILES: Final = "broker.files"  # beside the crashes: deploy.parts.broker_launch
NEW_FILE_MODE: Final = 0o640


class Accounts:
    """The file that the broker reads."""

    def __init__(self, engine: Engine, password_file: Path) -> None:
        """Nothing is read yet."""
        self._engine = engine
        self._password_file = password_file
        self._digest: str | None = None  # of the logins that the file holds

    def keep_up(self) -> None:
        """Look once, and write the file when the logins changed.

        Raises:
            SQLAlchemyError, OSError: the database or the file cannot be used; look again later.
        """
        if not self._password_file.exists():
            self._digest = None
        with snapshot(self._engine) as connection:  # the digest is of these very logins
            digest = enrolment_store.live_logins_digest(connection)
            logins = enrolment_store.live_logins(connection) if digest != self._digest else None
        if logins is not None:
            if write_if_changed(self._password_file, render(logins)):
                event("accounts_written", "the displays' logins changed", logins=len(logins))
            self._digest = digest


class Crashes:
    """What the broker's launcher noted: a line for each crash, in seconds since 1970."""

    def __init__(self, engine: Engine, file: Path) -> None:
        """Nothing is read yet."""
        self._engine = engine
        self._file = file
        self._carried = ""  # the file's content that the database has

    def carry(self) -> None:
        """Bring to the database what it does not have yet. Raises SQLAlchemyError: later."""
        try:
            noted = self._file.read_text(encoding="ascii")
        except (OSError, UnicodeError):
            return  # no crash yet, or nobody can say
        if noted == self._carried:
            return
        with transaction(self._engine) as connection:
            came = leadership.note_broker_crashes(connection, list(_times(noted)))
        self._carried = noted
        if came:
            event("broker_crashed", "the broker ended without having been told to", crashes=came)


class OpenFiles:
    """What the broker's launcher writes down each second: how many files the broker has open, and may open."""

    def __init__(self, engine: Engine, file: Path) -> None:
        """Nothing is read yet."""
        self._engine = engine
        self._file = file
        self._carried: tuple[int, ...] = ()

    def carry(self) -> None:
        """Bring it to the database when it is another share of what may be. Raises SQLAlchemyError: later."""
        try:
            opened, most = (int(word) for word in self._file.read_text(encoding="ascii").split())
        except (OSError, ValueError):
            return  # nobody can say
        share = (opened * FILE_STEPS // max(1, most), most)
        if share != self._carried:
            with transaction(self._engine) as connection:
                leadership.note_broker_files(connection, opened, most)
            self._carried = share


def _times(noted: str) -> Iterable[datetime]:
    for line in noted.split():
        with contextlib.suppress(ValueError, OverflowError, OSError):
            yield datetime.fromtimestamp(float(line), UTC)


def pause(look_seconds: float) -> float:
    """Seconds until the next look: short while a look is cheap, for taking a login back must not take long."""
    return min(LONGEST_LOOK_SECONDS, max(LOOK_SECONDS, look_seconds / LOOKING_SHARE))


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


def main() -> int:
    """The process's exit code: 0 after SIGTERM or SIGINT, 2 when it may not start."""
    configure("broker_accounts")
    try:
        config = load(required=("DATABASE_URL",))
        if not config["DISPLAYS_PASSWORD_FILE"]:
            raise ConfigurationError("DISPLAYS_PASSWORD_FILE is not set.")  # noqa: TRY301 - one place says why
        watched = doors(config["CERTIFICATE_DOORS"])
    except ConfigurationError as error:
        event("configuration_error", error.detail)
        return 2
    stop = stop_event()
    engine = make_engine(config, "broker_accounts")
    certificates = threading.Thread(target=Certificates(engine, watched).watch, args=(stop,), name="certificates")
    certificates.start()
    crashes = config["BROKER_CRASHES_FILE"]
    watch(
        Accounts(engine, Path(config["DISPLAYS_PASSWORD_FILE"])),
        (Crashes(engine, Path(crashes)), OpenFiles(engine, Path(crashes).with_name(FILES))) if crashes else (),
        stop,
    )
    certificates.join()
    engine.dispose()
    return 0


def watch(accounts: Accounts, notes: Iterable[Crashes | OpenFiles], stop: threading.Event) -> None:
    """Keep up until `stop` is set; a database or disk that is away is waited for."""
    outage, is_faulty = Outage("database"), False
    while not stop.is_set():
        began = time.monotonic()
        try:
            accounts.keep_up()
            for note in notes:
                note.carry()
            outage.over()
            is_faulty = False
        except Exception as error:  # noqa: BLE001 - whatever it is, the next look begins anew
            if is_away(error):
                outage.began(error, **said_by_postgres(error))
            elif not is_faulty:
                is_faulty = True
                failure("accounts_stuck", "the displays' logins cannot be brought up to date")
        stop.wait(pause(time.monotonic() - began))


if __name__ == "__main__":
    sys.exit(main())
