"""`python -m deploy.parts.broker_accounts`: keeps the broker's file of displays' logins equal to Postgres.

It runs beside the broker and never connects to it. It writes the logins that are not revoked and whose client is not
deleted; the broker's plugin reads the file again when it changes (`deploy/parts/broker_door.c`). The file holds only
hashes. The program also stores the broker's crashes and open files, which the broker's launcher notes in files, and
the expiry of the doors' certificates (`certificates.py`).
"""

import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from deploy.parts.broker_accounts.certificates import Certificates, doors
from deploy.parts.broker_accounts.logins import Accounts
from deploy.parts.broker_accounts.notes import Crashes, OpenFiles
from deploy.parts.broker_launch import FILES
from shared.config import load
from shared.errors import ConfigurationError
from shared.postgres.door import is_away, make_engine, said_by_postgres
from shared.stopping import stop_event
from shared.structured_log import Outage, configure, event, failure
from shared.version import version

LOOK_SECONDS: Final = 0.25  # the shortest pause between two looks at the database
LONGEST_LOOK_SECONDS: Final = 1.0  # the longest pause
LOOKING_SHARE: Final = 0.05  # between these bounds, looking takes this share of the time


def main() -> int:
    """Run the program. Returns the exit code: 0 after SIGTERM or SIGINT, 2 after a configuration error."""
    configure("broker_accounts", version=version())
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
    """Look again and again until `stop` is set. While the database or the disk is away, retry."""
    outage, is_faulty = Outage("database"), False
    while not stop.is_set():
        began = time.monotonic()
        try:
            accounts.keep_up()
            for note in notes:
                note.carry()
            outage.over()
            is_faulty = False
        except Exception as error:  # noqa: BLE001 - after any fault the next look tries again
            if is_away(error):
                outage.began(error, **said_by_postgres(error))
            elif not is_faulty:
                is_faulty = True
                failure("accounts_stuck", "the file of the displays' logins cannot be updated")
        stop.wait(pause(time.monotonic() - began))


def pause(look_seconds: float) -> float:
    """Seconds until the next look: short while a look is cheap, because a revoked login must stop working soon."""
    return min(LONGEST_LOOK_SECONDS, max(LOOK_SECONDS, look_seconds / LOOKING_SHARE))


if __name__ == "__main__":
    sys.exit(main())
