"""Rules of reports: which one is the newest, and which state to show.

`heard` is the arrival at the bridge, in seconds of its monotonic clock. A batch may be stored later; then the
difference to the clock is the report's age.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Protocol, TypeVar

from msgspec import Struct

from shared.vocabulary import ClientStatus, Presence, ProcessStatus, ScreenHealthStatus, ScreenOffBy
from shared.words.facts import Lasting, rounded
from shared.words.sentences import Sentence, sentence

USUAL_SECONDS: Final = 30  # between two heartbeats of a display that does not name its interval
LATE_INTERVALS: Final = 2
LATE_AT_LEAST: Final = timedelta(seconds=90)  # one missed heartbeat is normal
STALE_INTERVALS: Final = 3
FRESH_FOR: Final = LATE_AT_LEAST  # a report stored later than this after its arrival proves no present state


HEARTBEATS_LAST: Final = timedelta(seconds=90)
"""After this time no older heartbeat can still arrive: the broker drops them after 30 s."""
HEALTH_LASTS: Final = timedelta(seconds=330)
"""The same for health reports, which the broker drops after 300 s."""


class Stamped(Protocol):
    """A report with its display's stamp; without a stamp all three fields are null."""

    uuid: str
    heard: float
    install_id: str | None
    boot_seq: int | None
    seq: int | None

    @property
    def boot_id(self) -> str | None: ...

    @property
    def lasts(self) -> timedelta: ...


Report = TypeVar("Report", bound=Stamped)


class Heartbeat(Struct):
    """A heartbeat. A null field was missing or invalid."""

    uuid: str
    heard: float
    process_status: ProcessStatus | None = None
    interval_seconds: int | None = None
    boot_id: str | None = None
    app_instance: str | None = None
    install_id: str | None = None
    boot_seq: int | None = None
    seq: int | None = None
    lasts: ClassVar[timedelta] = HEARTBEATS_LAST


class HealthReport(Struct):
    """A health report.

    Null keeps the stored fact of the client, but in `capabilities`, `screen_off_by` and `hours_version` it means what
    stands beside them. A measurement that is null becomes null.
    """

    uuid: str
    heard: float
    body: Any  # the whole report, as values or as JSON
    screen_health: ScreenHealthStatus | None = None
    log_level: str | None = None
    app_version: str | None = None
    os: str | None = None
    ip: str | None = None
    hostname: str | None = None
    cpu_percent: float | None = None
    memory_percent: float | None = None
    disk_percent: float | None = None
    temperature_celsius: float | None = None
    capabilities: list[str] | None = None  # null: POWER_ACTIONS
    reconnect_count: int | None = None
    tells_disconnect: bool = False  # whether it has `last_disconnect_at`: null then means never
    last_disconnect_at: float | None = None  # seconds since 1970
    install_id: str | None = None
    boot_seq: int | None = None
    seq: int | None = None
    screen_off_by: ScreenOffBy | None = None  # null: nobody planned that the screen is off
    hours_version: str | None = None  # the opening hours that the display keeps; null: none
    certificate_ends_at: float | None = None  # seconds since 1970
    under_voltage: bool | None = None
    said_at: float | None = None  # when the display wrote it, by its own clock, in seconds since 1970
    disk_writable: bool | None = None
    refused: str | None = None  # the orders that it does not take, as `hours:unknown_zone,…`
    page: str | None = None  # what is on the screen: kind, name, address and title, as JSON; null: nobody sees it
    boot_id: ClassVar[None] = None
    lasts: ClassVar[timedelta] = HEALTH_LASTS


class PresenceReport(Struct, frozen=True):
    """A presence message: the display connected or left. It is a hint; the heartbeat decides."""

    uuid: str
    state: Presence
    session: str | None


class PresenceChange(Struct, frozen=True):
    """The result of one client's presence messages in a batch."""

    uuid: str
    state: Presence
    session: str | None
    only_if: tuple[str | None, ...] | None
    """The change counts only if the stored session is one of these, or none is stored. None: it always counts."""


def newest(reports: Iterable[Report]) -> list[Report]:
    """The reports, in order of arrival, that may be their client's newest.

    Within an installation the highest (boot_seq, seq) is newest, unless the counter went back. Between installations
    only the database can decide, so one of each stays. Without a stamp the last arrival wins, even over stamped ones.
    """
    kept: dict[str, dict[str | None, Report]] = {}
    for report in reports:
        of_client = kept.get(report.uuid)
        if of_client is None:
            kept[report.uuid] = {report.install_id: report}
            continue
        if report.install_id is None or None in of_client:
            of_client.clear()
        known = of_client.get(report.install_id)
        if known is None or _is_newer(report, known):
            of_client[report.install_id] = report
    return [report for of_client in kept.values() for report in of_client.values()]


def _is_newer(later: Stamped, earlier: Stamped) -> bool:
    """Whether the later arrival of an installation replaces the earlier one. `store.newer` is the same in SQL.

    The counter went back if another boot has the same number, or if a lower number comes when no older report can
    still arrive. Then only the arrival decides.
    """
    boots = earlier.boot_id, later.boot_id
    if later.boot_seq == earlier.boot_seq and None not in boots and boots[0] != boots[1]:
        return True
    if later.heard - earlier.heard > later.lasts.total_seconds():
        return _order(later) != _order(earlier)
    return _order(later) > _order(earlier)


def _order(report: Stamped) -> tuple[int, int]:
    return report.boot_seq or 0, report.seq or 0


def only_ones(reports: Sequence[Report], without: Collection[str]) -> list[Report]:
    """The reports of clients with only one report here, except clients in `without`."""
    count = Counter(report.uuid for report in reports)
    return [report for report in reports if count[report.uuid] == 1 and report.uuid not in without]


def presence_changes(messages: Sequence[PresenceReport]) -> list[PresenceChange]:
    """The result of presence messages, in order of arrival, for each client: `offline` ends only its own session."""
    changes: dict[str, PresenceChange] = {}
    for message in messages:
        before = changes.get(message.uuid)
        if message.state is Presence.ONLINE:
            changes[message.uuid] = PresenceChange(message.uuid, Presence.ONLINE, message.session, None)
        elif before is None or before.only_if is not None:
            sessions = (*(before.only_if or () if before else ()), message.session)
            changes[message.uuid] = PresenceChange(message.uuid, Presence.OFFLINE, message.session, sessions)
        elif before.session == message.session:
            changes[message.uuid] = PresenceChange(message.uuid, Presence.OFFLINE, message.session, None)
    return list(changes.values())


def late_after(interval_seconds: int) -> timedelta:
    """Silence after which a client is late."""
    return max(LATE_AT_LEAST, LATE_INTERVALS * timedelta(seconds=interval_seconds))


def stale_after(interval_seconds: int, stale_seconds: int) -> timedelta:
    """Silence after which a client is stale; `stale_seconds` is HEARTBEAT_STALE_SECONDS."""
    return max(timedelta(seconds=stale_seconds), STALE_INTERVALS * timedelta(seconds=interval_seconds))


@sentence
def player_starting() -> Sentence: ...
@sentence
def player_running() -> Sentence: ...
@sentence
def player_crashed() -> Sentence: ...
@sentence
def player_stopped() -> Sentence: ...
@sentence
def player_unknown() -> Sentence: ...
@sentence
def never_heard() -> Sentence: ...
@sentence
def not_known_while_silent() -> Sentence: ...
@sentence
def not_heard_again() -> Sentence: ...
@sentence
def heartbeats_do_not_come() -> Sentence: ...
@sentence
def no_heartbeat_for(*, seconds: Lasting) -> Sentence: ...


_WHEN_HEARD: Final = {
    ProcessStatus.STARTING: player_starting(),
    ProcessStatus.RUNNING: player_running(),
    ProcessStatus.CRASHED: player_crashed(),
    ProcessStatus.STOPPED: player_stopped(),
    ProcessStatus.UNKNOWN: player_unknown(),
}


def when_heard(process_status: ProcessStatus) -> tuple[ClientStatus, Sentence]:
    """The shown state of a client that was heard just now, and its cause for people."""
    return ClientStatus(process_status.value), _WHEN_HEARD[process_status]


def shown_status(
    process_status: ProcessStatus,
    last_heartbeat_at: datetime | None,
    interval_seconds: int,
    now: datetime,
    stale_seconds: int,
    *,
    deaf: bool,
    listening_since: datetime | None,
    sign_at: datetime | None = None,
) -> tuple[ClientStatus, Sentence]:
    """The state to show now, and its cause for people.

    `deaf`: the bridge does not hear the fleet, so that silence proves nothing. Silence counts from the later of the
    last heartbeat and `listening_since`; until it is long enough, an old heartbeat makes the state unknown. Other
    messages without heartbeats (the last one at `sign_at`) also make it unknown.
    """
    if last_heartbeat_at is None:
        return ClientStatus.UNKNOWN, never_heard()
    if now - last_heartbeat_at <= late_after(interval_seconds):
        return when_heard(process_status)
    if deaf or listening_since is None:
        return ClientStatus.UNKNOWN, not_known_while_silent()
    silence = now - max(last_heartbeat_at, listening_since)
    if silence > stale_after(interval_seconds, stale_seconds):
        talks = sign_at is not None and now - sign_at <= stale_after(interval_seconds, stale_seconds)
        return _without_heartbeats(now - last_heartbeat_at, talks=talks)
    if silence > late_after(interval_seconds):
        return _while_late(process_status, now - last_heartbeat_at)
    return ClientStatus.UNKNOWN, not_heard_again()


def unknown_from(last_heartbeat_at: datetime, interval_seconds: int, deaf_since: datetime) -> datetime:
    """Since when a client is unknown while the bridge is deaf; `deaf_since`: the bridge's last sign.

    This is not the time of the write, which may come only after an outage of the database.
    """
    return max(last_heartbeat_at + late_after(interval_seconds), deaf_since)


def silent_from(last_sign_at: datetime, listening_since: datetime) -> datetime:
    """Since when a late or stale client is silent: not the time when the service noticed, minutes later."""
    return max(last_sign_at, listening_since)


def _without_heartbeats(age: timedelta, *, talks: bool) -> tuple[ClientStatus, Sentence]:
    """The state without heartbeats: unknown if other messages come, otherwise stale."""
    if talks:
        return ClientStatus.UNKNOWN, heartbeats_do_not_come()
    return ClientStatus.STALE, no_heartbeat_for(seconds=rounded(age))


def _while_late(process_status: ProcessStatus, age: timedelta) -> tuple[ClientStatus, Sentence]:
    """The state with a late heartbeat: late replaces only running; other states stay until stale."""
    if process_status in {ProcessStatus.RUNNING, ProcessStatus.UNKNOWN}:
        return ClientStatus.LATE, no_heartbeat_for(seconds=rounded(age))
    return when_heard(process_status)
