"""What is known of a client that may need recovery, and what of it counts as evidence."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from shared.clients.reports.rules import in_words, stale_after
from shared.clients.signs_rules import last_sign
from shared.vocabulary import ClientStatus, CommandState, Presence, ProcessStatus, RecoveryBasis

SHARED_FOR: Final = timedelta(hours=1)
"""So long after two devices used one login nothing is sent: which of them would obey is chance."""
HEALTHY_FOR: Final = timedelta(minutes=30)  # then the ladder begins anew


@dataclass(frozen=True, slots=True)
class KnownRow:
    """What Postgres knows of one client that recovery may act on: `store.KNOWN`.

    `open_...` is its open command, `tried_...` the last command of recovery, `health_...` its newest health report.
    """

    uuid: str
    site: str | None
    process_status: str
    process_status_since: datetime | None
    presence: str
    shared_login_seen_at: datetime | None
    presence_at: datetime | None
    service_failed_at: datetime | None
    service_failed_unit: str | None
    capabilities: list[str] | None
    lockout_until: datetime | None
    lockout_command_id: str | None
    last_heartbeat_at: datetime | None
    interval_seconds: int | None
    sign_at: datetime | None
    put_aside: dict[str, int] | None
    open_action: str | None
    open_state: str | None
    open_expires_at: datetime | None
    open_result_deadline: datetime | None
    open_created_at: datetime | None
    open_requested_by: str | None
    step: int | None
    restarts: int | None
    reboots: int | None
    refused_restarts: int | None
    refused_reboots: int | None
    tried_since: datetime | None
    unheard_at: datetime | None
    healthy_since: datetime | None
    decided: str | None
    decided_at: datetime | None
    held_at: datetime | None
    held_by: str | None
    held_reason: str | None
    held_until: datetime | None
    tried_command_id: str | None
    tried_action: str | None
    tried_state: str | None
    tried_finished_at: datetime | None
    tried_refused: bool | None
    tried_reason: str | None
    tried_elsewhere: bool | None
    excluded_reason: str | None
    excluded_site: str | None
    excluded_by: str | None
    excluded_at: datetime | None
    health_received_at: datetime | None
    health_says_none: bool | None
    health_repeats: bool | None
    shut_down: bool


@dataclass(frozen=True)
class Fleet:
    """What is the same for every client when it is asked what recovery does about it."""

    enabled: bool
    bridge_silent: bool
    listening_since: datetime | None
    """Start of the present listening time; silence before it counts for nothing."""
    stale_seconds: int
    """HEARTBEAT_STALE_SECONDS."""
    breakers: Mapping[str | None, str]
    """Why each breaker that is open is; None is the whole fleet's, the others are sites'."""
    quiet: Mapping[str, tuple[str, datetime]] = field(default_factory=dict)
    """Why, and until when, nothing is sent to the clients inside a maintenance window."""
    late: str | None = None
    """Why so many are late at the moment that whether they fall silent too is seen first; None where few are."""
    command_life: timedelta = timedelta(minutes=12)
    """How long a command that recovery sends can be open: its time to live, and for a result after it."""
    incidents: Mapping[str, str] = field(default_factory=dict)
    """The cause, in words, of the open incident of each client that is part of one."""


@dataclass(slots=True)
class Condition:
    """What is known of one client when it is asked what recovery does about it."""

    process_status: ProcessStatus
    process_status_since: datetime | None
    last_heartbeat_at: datetime | None
    stale_after: timedelta
    """Silence beyond which this client's heartbeat proves nothing any more."""
    presence: Presence
    presence_at: datetime | None
    site: str | None
    service_failed_unit: str | None
    failure_stands: bool
    """The service fails still, for all that is known; False also where none is recorded."""
    capabilities: Collection[str] | None
    """Actions it can do; None means all."""
    lockout_until: datetime | None
    open_action: str | None
    """Action of its open command; None when it has none."""
    open_until: datetime | None
    unheard_at: datetime | None
    """When a recovery command was answered that nobody listens; None when none was."""
    hold: str | None
    """Why it is left alone, in words; None where it is not."""
    held_until: datetime | None
    step: int
    """Rungs of the ladder used."""
    restarts: int
    reboots: int
    tried_since: datetime | None
    done_action: str | None
    """What recovery did last, where that is done and its lockout still stands."""
    incident: str | None
    """The cause, in words, of the open incident that it is part of."""
    refused_restarts: int = 0
    """Commands of recovery that the display did not begin; they are no rungs."""
    refused_reboots: int = 0
    refused_why: str | None = None
    """Why it refused recovery's last command, where it did."""
    open_since: datetime | None = None
    open_by: str | None = None
    """Who asked for its open command."""
    locked_by_refusal: bool = False
    """The lockout is that of a command that it refused."""
    sign_at: datetime | None = None
    """When it last sent something else than a heartbeat that was stored; kept where its heartbeats do not come."""
    put_aside: Mapping[str, int] = field(default_factory=dict)
    """How many of its heartbeats were put aside since the last one that was stored, by reason."""

    @property
    def refused(self) -> int:
        """How many commands it refused."""
        return self.refused_restarts + self.refused_reboots

    @property
    def last_sign_at(self) -> datetime | None:
        """Its last sign of life, of whatever kind; None for one whose heartbeat was never stored."""
        return None if self.last_heartbeat_at is None else last_sign(self.last_heartbeat_at, self.sign_at)


def is_unwell(status: str, process_status: str, service_failed_at: datetime | None) -> bool:
    """Whether people ask what recovery does about it: crashed, silent or with a failed service."""
    return (
        status in {ClientStatus.CRASHED, ClientStatus.STALE}
        or process_status == ProcessStatus.CRASHED
        or service_failed_at is not None
    )


def may_be_told_of(status: str, process_status: str, service_failed_at: datetime | None) -> bool:
    """Whether recovery may have something to say of it: it is unwell, or unknown, which it is where it is mute."""
    return status == ClientStatus.UNKNOWN or is_unwell(status, process_status, service_failed_at)


def failure_stands(row: KnownRow) -> bool:
    """Whether the recorded failure of a service is one still.

    The mark stays until a person takes it off, so it alone proves nothing: the display's newest health report
    may say that nothing fails, and after a restart or reboot that was done only a new word of it counts.
    """
    failed_at, told_at = row.service_failed_at, row.health_received_at
    if failed_at is None:
        return False
    if told_at is not None and told_at > failed_at and row.health_says_none:
        return False
    if row.tried_state != CommandState.SUCCEEDED or row.tried_finished_at is None or row.tried_finished_at <= failed_at:
        return True
    return told_at is not None and told_at > row.tried_finished_at and bool(row.health_repeats)


def why_held(
    row: KnownRow, now: datetime, quiet: tuple[str, datetime] | None
) -> tuple[str, datetime | None] | tuple[None, None]:
    """Why this client is left alone, and until when if that is known; (None, None) where it is not.

    `quiet` is the maintenance window that is on for it, in words and with its end.
    """
    if row.held_at is not None and (row.held_until is None or row.held_until > now):
        return f"{row.held_by} put recovery on hold: {_sentence(row.held_reason or '')}", row.held_until
    if row.excluded_reason is not None:
        what = "its site" if row.excluded_site is not None else "this display"
        return f"{row.excluded_by} excluded {what} from recovery: {_sentence(row.excluded_reason)}", None
    if (for_now := quiet or _shared(row.shared_login_seen_at, now)) is not None:
        return for_now
    if row.shut_down:
        return "The display was shut down on purpose; it is left alone until its next heartbeat.", None
    if row.process_status == ProcessStatus.STOPPED:
        return "The player was stopped on purpose; it is left alone.", None
    return None, None


def _shared(seen_at: datetime | None, now: datetime) -> tuple[str, datetime] | None:
    if seen_at is None or now - seen_at >= SHARED_FOR:
        return None
    why = (
        f"Two devices use this login, last seen {in_words(now - seen_at)} ago: which of them would obey is chance."
        " Give one of them a new code."
    )
    return why, seen_at + SHARED_FOR


def _sentence(said: str) -> str:
    return said if said.endswith((".", "!", "?")) else f"{said}."


_stale_after = lru_cache(maxsize=1024)(stale_after)  # of few intervals, and asked for each client


def condition(row: KnownRow, now: datetime, fleet: Fleet) -> Condition:
    """What a row of `store.conditions` says."""
    hold, held_until = why_held(row, now, fleet.quiet.get(row.uuid))
    undelivered = row.open_state in {CommandState.QUEUED, CommandState.SENT}
    own_lockout = row.tried_command_id is not None and row.lockout_command_id == row.tried_command_id
    done = own_lockout and row.tried_state == CommandState.SUCCEEDED
    return Condition(
        process_status=ProcessStatus(row.process_status),
        process_status_since=row.process_status_since,
        last_heartbeat_at=row.last_heartbeat_at,
        stale_after=_stale_after(row.interval_seconds or 0, fleet.stale_seconds),
        presence=Presence(row.presence),
        presence_at=row.presence_at,
        site=row.site,
        service_failed_unit=row.service_failed_unit,
        failure_stands=failure_stands(row),
        capabilities=row.capabilities,
        lockout_until=row.lockout_until,
        open_action=row.open_action,
        open_until=row.open_expires_at if undelivered else row.open_result_deadline,
        unheard_at=row.unheard_at,
        hold=hold,
        held_until=held_until,
        step=row.step or 0,
        restarts=row.restarts or 0,
        reboots=row.reboots or 0,
        tried_since=row.tried_since,
        done_action=row.tried_action if done else None,
        incident=fleet.incidents.get(row.uuid),
        open_since=row.open_created_at,
        open_by=row.open_requested_by,
        refused_restarts=row.refused_restarts or 0,
        refused_reboots=row.refused_reboots or 0,
        refused_why=_refused_why(row),
        locked_by_refusal=own_lockout and bool(row.tried_refused),
        sign_at=row.sign_at,
        put_aside=row.put_aside or {},
    )


def _refused_why(row: KnownRow) -> str | None:
    if not row.tried_refused:
        return None
    elsewhere = "it ran another boot than its last stored heartbeat told" if row.tried_elsewhere else None
    return ": ".join(said for said in (row.tried_reason, elsewhere) if said) or "without a reason"


def is_heard(client: Condition, now: datetime, fleet: Fleet) -> bool:
    """Whether its last heartbeat is fresh, and of this listening time: what it said before may be over."""
    heard, since = client.last_heartbeat_at, fleet.listening_since
    if heard is None or since is None or fleet.bridge_silent:
        return False
    return heard >= since and now - heard <= client.stale_after


def is_silent(client: Condition, now: datetime, fleet: Fleet) -> bool:
    """Whether nothing at all came of it for longer than its threshold while we listened."""
    return _is_beyond(client.last_sign_at, client, now, fleet)


def is_mute(client: Condition, now: datetime, fleet: Fleet) -> bool:
    """Whether it talks, but its heartbeats have not come for longer than its threshold while we listened."""
    return _is_beyond(client.last_heartbeat_at, client, now, fleet) and not is_silent(client, now, fleet)


def _is_beyond(at: datetime | None, client: Condition, now: datetime, fleet: Fleet) -> bool:
    since = fleet.listening_since
    if at is None or since is None or fleet.bridge_silent:
        return False
    return now - max(at, since) > client.stale_after


def is_healthy(client: Condition, now: datetime, fleet: Fleet) -> bool:
    """Whether it is known to be well: heard, and nothing crashed, starting, stopped or failing."""
    return is_heard(client, now, fleet) and stays_well(client, now)


def stays_well(client: Condition, now: datetime) -> bool:
    """Whether nothing speaks against it: a fresh heartbeat, and nothing crashed, starting, stopped or failing.

    The heartbeat may be of before we connected again: a reconnection of ours is no illness of a display.
    """
    plays = client.process_status in {ProcessStatus.RUNNING, ProcessStatus.UNKNOWN}
    heard = client.last_heartbeat_at
    return plays and not client.failure_stands and heard is not None and now - heard <= client.stale_after


def has_recovered(client: Condition, now: datetime, healthy_since: datetime | None) -> bool:
    """Whether a healthy client was so for as long as takes it back to the foot of the ladder."""
    if healthy_since is None:
        return False
    since = max(healthy_since, client.process_status_since or healthy_since)
    return now - since >= HEALTHY_FOR


def evidence(client: Condition, now: datetime, fleet: Fleet) -> RecoveryBasis | None:
    """What there is to act on; None where nothing is known for sure."""
    if is_heard(client, now, fleet):
        if client.process_status is ProcessStatus.CRASHED:
            return RecoveryBasis.CRASHED
        return RecoveryBasis.SERVICE_FAILED if client.failure_stands else None
    return RecoveryBasis.STALE if is_silent(client, now, fleet) else None
