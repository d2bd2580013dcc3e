"""Reports that say nothing new but their time, number and measurements: nearly all of them.

Who writes all reports of the fleet may remember what it has stored. That memory is a hint: the SQL that rests on it
looks whether the row still is what was remembered, and a client that changed in any other way is forgotten.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol, TypeVar

from shared.clients.reports.rules import Health, Heartbeat


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


def likeness_of_health(told: Health) -> int:
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
