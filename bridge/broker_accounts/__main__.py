"""`python -m bridge.broker_accounts`: keeps the displays' logins that the broker reads equal to Postgres.

It stands beside the broker, reads the logins that are neither revoked nor of a deleted client, and never connects to
the broker, whose plugin reads the file anew when it has changed (`deploy/parts/broker_door.c`). Only hashes are stored,
so only hashes are written. It also carries to the database what the broker's launcher notes of crashes and open files,
and looks when the doors' certificates end (`certificates.py`).
"""

import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bridge.broker_accounts.certificates import Certificates, doors
from bridge.broker_accounts.logins import Accounts
from bridge.broker_accounts.notes import FILES, Crashes, OpenFiles
from shared.config import load
from shared.errors import ConfigurationError
from shared.postgres.door import is_away, make_engine, said_by_postgres
from shared.stopping import stop_event
from shared.structured_log import Outage, configure, event, failure

LOOK_SECONDS: Final = 0.25  # from the end of a look to the next one, where looking is cheap
LONGEST_LOOK_SECONDS: Final = 1.0  # at least one look in this time
LOOKING_SHARE: Final = 0.05  # of the time goes to looking at most, while that means a look in LONGEST_LOOK_SECONDS


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


def pause(look_seconds: float) -> float:
    """Seconds until the next look: short while a look is cheap, for taking a login back must not take long."""
    return min(LONGEST_LOOK_SECONDS, max(LOOK_SECONDS, look_seconds / LOOKING_SHARE))


if __name__ == "__main__":
    sys.exit(main())
