"""Reports that say nothing new but their time, number and measurements: nearly all of them.

Who writes all reports of the fleet may remember what it has stored. That memory is a hint: the SQL that rests on it
looks whether the row still is what was remembered, and a client that changed in any other way is forgotten.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from shared.clients.reports.rules import HealthReport, Heartbeat
from shared.vocabulary import ProcessStatus, ScreenHealthStatus


class Numbered(Protocol):
    """A report with its client and its number."""

    uuid: str
    seq: int | None


Report = TypeVar("Report", bound=Numbered)
Known = Mapping[str, tuple[int, int]]
"""uuid -> what its newest report said (hashed), and the number of that report."""


def likeness_of_heartbeat(told: Heartbeat) -> int:
    """What it says but for its time and number."""
    boot = (told.install_id, told.boot_seq, told.boot_id)
    return hash((boot, told.app_instance, told.process_status, told.interval_seconds))


def likeness_of_health(told: HealthReport) -> int:
    """What it shows of its client: all but time, number and measurements."""
    return hash(
        (
            told.install_id,
            told.boot_seq,
            told.screen_health,
            told.log_level,
            told.app_version,
            told.os,
            told.ip,
            told.hostname,
            None if told.capabilities is None else tuple(told.capabilities),
            told.reconnect_count,
            told.tells_disconnect,
            told.last_disconnect_at,
        )
    )


class StoredReports(NamedTuple):
    """What is stored of a client's newest reports; numbers are null where there is no report, or one without them."""

    uuid: str
    process_status: ProcessStatus
    interval_seconds: int | None
    boot_id: str | None
    app_instance: str | None
    heartbeat_stamp: tuple[str | None, int | None, int | None]  # install_id, boot_seq, seq
    health_stamp: tuple[str | None, int | None, int | None]
    screen_health: ScreenHealthStatus
    log_level: str | None
    app_version: str | None
    os: str | None
    ip: str | None
    hostname: str | None
    capabilities: list[str] | None
    reconnect_count: int | None
    last_disconnect_at: float | None  # seconds since 1970

    def heartbeat(self) -> Heartbeat:
        """One that says nothing new."""
        said = (self.process_status, self.interval_seconds, self.boot_id, self.app_instance)
        return Heartbeat(self.uuid, 0.0, *said, *self.heartbeat_stamp)

    def health(self) -> HealthReport:
        """One that shows nothing new.

        What is unknown or not there was most likely never told, and a display that tells of its connection tells
        both: where that is wrong, its next report is only taken for a new one.
        """
        install_id, boot_seq, seq = self.health_stamp
        return HealthReport(
            self.uuid,
            0.0,
            None,
            None if self.screen_health is ScreenHealthStatus.UNKNOWN else self.screen_health,
            self.log_level,
            self.app_version,
            self.os,
            self.ip,
            self.hostname,
            capabilities=self.capabilities,
            reconnect_count=self.reconnect_count,
            tells_disconnect=self.reconnect_count is not None,
            last_disconnect_at=self.last_disconnect_at,
            install_id=install_id,
            boot_seq=boot_seq,
            seq=seq,
        )


def split(
    reports: Collection[Report], known: Known, likeness: Callable[[Report], int], odd: Collection[str] = ()
) -> tuple[list[Report], list[Report]]:
    """The newest report of each client that only repeats what is known, and all reports of the other clients.

    A client with one report that says something else (or comes late, or is among `odd`) is among the others.
    """
    same: dict[str, Report] = {}
    others = set(odd)
    for report in reports:
        before, seq = known.get(report.uuid), report.seq
        if before is None or seq is None or seq <= before[1] or likeness(report) != before[0]:
            others.add(report.uuid)
        elif (earlier := same.get(report.uuid)) is None or seq > (earlier.seq or 0):
            same[report.uuid] = report
    if not others:
        return list(same.values()), []
    unchanged = [report for uuid, report in same.items() if uuid not in others]
    return unchanged, [report for report in reports if report.uuid in others]


def remembered(reports: Iterable[Report], likeness: Callable[[Report], int]) -> dict[str, tuple[int, int]]:
    """What to know of the clients of these reports, once they are stored as the newest ones."""
    return {report.uuid: (likeness(report), report.seq) for report in reports if report.seq is not None}


def still_known(same: Iterable[Report], known: Known) -> dict[str, tuple[int, int]]:
    """As `remembered`, of reports that repeat what is known: only their number is new."""
    return {report.uuid: (known[report.uuid][0], report.seq) for report in same if report.seq is not None}
