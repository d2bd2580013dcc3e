"""Reports whose only news are time, number and measurements: nearly all reports.

The single writer of reports may remember the stored ones. The memory is a hint: each UPDATE that uses it checks that
the row still is the remembered one. The memory forgets a client that changed in another way.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from shared.clients.reports.rules import HealthReport, Heartbeat
from shared.vocabulary import ProcessStatus, ScreenHealthStatus, ScreenOffBy


class Numbered(Protocol):
    """A report with its client and its number."""

    uuid: str
    seq: int | None


Report = TypeVar("Report", bound=Numbered)
Known = Mapping[str, tuple[int, int]]
"""uuid -> (hash of its newest report's content, number of that report)."""


def likeness_of_heartbeat(report: Heartbeat) -> int:
    """A hash of the heartbeat without its time and number."""
    boot = (report.install_id, report.boot_seq, report.boot_id)
    return hash((boot, report.app_instance, report.process_status, report.interval_seconds))


def likeness_of_health(report: HealthReport) -> int:
    """A hash of the health report without its time, number and measurements."""
    return hash(
        (
            report.install_id,
            report.boot_seq,
            report.screen_health,
            report.log_level,
            report.app_version,
            report.os,
            report.ip,
            report.hostname,
            None if report.capabilities is None else tuple(report.capabilities),
            report.reconnect_count,
            report.tells_disconnect,
            report.last_disconnect_at,
            report.screen_off_by,
            report.hours_version,
        )
    )


class StoredReports(NamedTuple):
    """A client's newest stored reports; numbers are null without a report, or in a report without them."""

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
    screen_off_by: ScreenOffBy | None
    hours_version: str | None

    def heartbeat(self) -> Heartbeat:
        """A heartbeat that repeats the stored one."""
        content = (self.process_status, self.interval_seconds, self.boot_id, self.app_instance)
        return Heartbeat(self.uuid, 0.0, *content, *self.heartbeat_stamp)

    def health(self) -> HealthReport:
        """A health report that repeats the stored one.

        An unknown or missing field was probably never sent. A display that reports its connection sends both fields of
        it. If this guess is wrong, the next report just counts as no repeat.
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
            screen_off_by=self.screen_off_by,
            hours_version=self.hours_version,
            install_id=install_id,
            boot_seq=boot_seq,
            seq=seq,
        )


def split(
    reports: Collection[Report], known: Known, likeness: Callable[[Report], int], odd: Collection[str] = ()
) -> tuple[list[Report], list[Report]]:
    """Split into the newest report of each client that only repeats, and all reports of the other clients.

    A client with a different or late report, or one in `odd`, is among the others.
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
    """The memory of these reports, for use once they are stored as the newest ones."""
    return {report.uuid: (likeness(report), report.seq) for report in reports if report.seq is not None}


def still_known(same: Iterable[Report], known: Known) -> dict[str, tuple[int, int]]:
    """The memory of clients whose reports only repeat: only the number is new."""
    return {report.uuid: (known[report.uuid][0], report.seq) for report in same if report.seq is not None}
