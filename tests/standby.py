"""A hot standby of a Postgres that runs: a copy of it that follows what is written there, and may be read."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from deploy.local import guardian, postgres
from deploy.local.probes import free_port, wait_until
from deploy.local.short_lived import running
from tests import volatile

SETTINGS: Final = (
    "max_standby_streaming_delay=100ms",  # after which a query gives way to what must be replayed
    "wal_retrieve_retry_interval=100ms",
)


@dataclass(frozen=True)
class Standby:
    """It and its process."""

    cluster: postgres.Cluster
    pid: int

    def run(self, statement: str) -> Any:
        """One statement of its superuser."""
        with postgres.superuser(self.cluster) as connection:
            return connection.run(statement)

    def freeze(self) -> None:
        """It takes connections, and says nothing any more."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for pid in {self.pid} | guardian.descendants(self.pid):
            guardian.send(pid, number)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        self.freeze()
        try:
            yield
        finally:
            self.thaw()

    @contextmanager
    def replaying_nothing(self) -> Iterator[None]:
        """It goes on receiving what is written, and shows none of it."""
        self.run("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self.run("SELECT pg_get_wal_replay_pause_state()") == [["paused"]], 60)
        try:
            yield
        finally:
            self.run("SELECT pg_wal_replay_resume()")

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """It has replayed all that it received, and receives nothing."""
        [[before]] = self.run("SHOW primary_conninfo")
        self._follow("")
        wait_until(lambda: self.run("SELECT count(*) FROM pg_stat_wal_receiver") == [[0]], 60)
        try:
            yield
        finally:
            self._follow(before)

    def _follow(self, primary: str) -> None:
        self.run("ALTER SYSTEM SET primary_conninfo = '" + primary.replace("'", "''") + "'")
        self.run("SELECT pg_reload_conf()")


@contextmanager
def standby_of(primary: postgres.Cluster) -> Iterator[Standby]:
    """A standby of `primary` that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="signage-standby-", dir=volatile.folder()) as folder:
        data = Path(folder) / primary.data.name
        data.mkdir(mode=0o700)
        guardian.own(data, postgres.system_user())
        cluster = replace(primary, data=data, port=free_port())
        _copy(primary, data)
        options = [part for setting in SETTINGS for part in ("-c", setting)]
        command = (*postgres.command(cluster, durable=False), *options)
        log, user = Path(folder) / "log", postgres.system_user()
        with running(command, postgres.answers(cluster), log, stop_signal=postgres.STOP_SIGNAL, user=user) as process:
            standby = Standby(cluster, process.pid)
            try:
                yield standby
            finally:
                standby.thaw()


def _copy(primary: postgres.Cluster, data: Path) -> None:
    command = [
        str(primary.programs.folder / "pg_basebackup"),
        f"--pgdata={data}",
        f"--dbname={primary.url('postgres')}",
        *("--write-recovery-conf", "--checkpoint=fast", "--no-sync"),
    ]
    launched = guardian.launch(command, signal.SIGTERM, postgres.system_user())
    subprocess.run(launched, check=True, capture_output=True, cwd="/")
