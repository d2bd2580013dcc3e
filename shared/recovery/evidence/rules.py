"""The condition of a client that may need recovery, and what counts as evidence for acting on it. Pure."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from msgspec import Struct, field

from shared.clients import screens_rules
from shared.clients.logins_rules import SHARED_FOR
from shared.clients.reports.rules import stale_after
from shared.clients.screens_rules import SeenScreen
from shared.clients.signs_rules import last_sign
from shared.recovery import words_rules
from shared.sentences import Sentence
from shared.vocabulary import (
    MENDED_BY_A_START,
    ClientStatus,
    CommandState,
    Presence,
    ProcessStatus,
    RecoveryBasis,
    ScreenHealthStatus,
)

HEALTHY_FOR: Final = timedelta(minutes=30)  # time without a failure that resets the ladder


class RecoveryFacts(Struct, frozen=True):
    """One client as recovery reads it from Postgres: see `store.FACTS`.

    `open_...` is its open command, `tried_...` the last command of recovery, `health_...` its newest health report.
    """

    uuid: str
    site: str | None
    status: str
    process_status: str
    process_status_since: datetime | None
    presence: str
    shared_login_seen_at: datetime | None
    presence_at: datetime | None
    service_failed_at: datetime | None
    service_mended_at: datetime | None
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
    tried_command_id: str | None
    tried_action: str | None
    tried_state: str | None
    tried_finished_at: datetime | None
    tried_refused: bool | None
    tried_reason: str | None
    tried_elsewhere: bool | None
    screen_health: str
    screen_failed_since: datetime | None
    screen_failed_at: datetime | None
    health_received_at: datetime | None
    health_previous_at: datetime | None
    health_says_none: bool | None
    health_repeats: bool | None
    shut_down: bool


class Fleet(Struct, frozen=True):
    """What recovery knows besides a client's own row: of all alike, by site, by uuid."""

    enabled: bool
    bridge_silent: bool
    listening_since: datetime | None
    """Start of the present listening time; silence before it is not counted."""
    stale_seconds: int
    """HEARTBEAT_STALE_SECONDS."""
    breakers: Mapping[str | None, Sentence]
    """Site -> why its breaker is open; None is the whole fleet."""
    quiet: Mapping[str, tuple[Sentence, datetime | None]] = field(default_factory=dict)
    """Uuid of a client that a quiet time lets recovery leave alone -> why, and until when (None: until it is ended)."""
    opened: Mapping[str, datetime] = field(default_factory=dict)
    """Uuid of a client whose shop opened a moment ago -> when it opened."""
    screens: Mapping[str | None, Sentence] = field(default_factory=dict)
    """Site -> why its breaker of failing screens is open; None is the whole fleet."""
    late: Sentence | None = None
    """Why recovery waits, because many clients are late and may fall silent together; None when few are late."""
    incidents: Mapping[str, Sentence] = field(default_factory=dict)
    """Uuid of a client in an open incident -> the cause of the incident."""


class Condition(Struct):
    """The condition of one client, by which recovery decides what to do."""

    process_status: ProcessStatus
    process_status_since: datetime | None
    last_heartbeat_at: datetime | None
    stale_after: timedelta
    """The age at which this client's last heartbeat is stale."""
    presence: Presence
    presence_at: datetime | None
    site: str | None
    service_failed_unit: str | None
    failure_stands: bool
    """Whether the recorded failure of a service still holds; False also without one."""
    capabilities: Collection[str] | None
    """Actions that the client can carry out; None: POWER_ACTIONS."""
    lockout_until: datetime | None
    open_action: str | None
    """Action of its open command; None without one."""
    open_until: datetime | None
    unheard_at: datetime | None
    """When the broker answered that a command of recovery had no matching subscribers; None if it never did."""
    hold: Sentence | None
    """Why recovery leaves the client alone; None if it does not."""
    held_until: datetime | None
    step: int
    """How many rungs of the ladder were used."""
    restarts: int
    reboots: int
    tried_since: datetime | None
    done_action: str | None
    """Recovery's last action, while the lockout after its success lasts."""
    incident: Sentence | None
    """The cause of the open incident that the client is part of."""
    refused_restarts: int = 0
    """Commands of recovery that the display did not begin; they do not count as rungs."""
    refused_reboots: int = 0
    refused_reason: str | None = None
    """Why the display refused recovery's last command, by itself; empty: without a reason; None: it did not."""
    refused_elsewhere: bool = False
    """Whether its boot was then another one than in its last stored heartbeat."""
    open_since: datetime | None = None
    open_by: str | None = None
    """Who requested its open command."""
    locked_by_refusal: bool = False
    """Whether the lockout follows a refused command."""
    sign_at: datetime | None = None
    """When its last message came that was not a stored heartbeat; recorded while its heartbeats are missing."""
    put_aside: Mapping[str, int] = field(default_factory=dict)
    """Reason -> how many of its heartbeats became dead letters since the last stored one."""
    screen: ScreenHealthStatus | None = None
    """How its screen fails; None when it does not."""
    screen_failed_at: datetime | None = None
    """When the screen began to count as failing."""
    screen_is_proven: bool = False
    """Whether fresh reports since the last try prove the failure, and a restart of the player may mend it."""
    opened_at: datetime | None = None
    """When its shop opened, if that was a moment ago."""

    @property
    def refused(self) -> int:
        """How many commands of recovery it refused."""
        return self.refused_restarts + self.refused_reboots

    @property
    def last_sign_at(self) -> datetime | None:
        """When it last gave a sign of life of any kind; None if no heartbeat was ever stored."""
        return None if self.last_heartbeat_at is None else last_sign(self.last_heartbeat_at, self.sign_at)


def is_unwell(
    status: str,
    process_status: str,
    service_fails: bool,
    screen_failed_since: datetime | None,
) -> bool:
    """Whether the client needs help: crashed, silent, or with a service or screen that fails."""
    return (
        status in {ClientStatus.CRASHED, ClientStatus.STALE}
        or process_status == ProcessStatus.CRASHED
        or service_fails
        or screen_failed_since is not None
    )


def failure_stands(row: RecoveryFacts) -> bool:
    """Whether the recorded failure of a service still holds.

    The record stays until a person acknowledges it, so it proves nothing alone: a newer health report may show
    that no service fails. After a successful restart or reboot, only a newer health report proves the failure.
    """
    failed_at, told_at = row.service_failed_at, row.health_received_at
    if failed_at is None:
        return False
    if told_at is not None and told_at > failed_at and row.health_says_none:
        return False
    if row.tried_state != CommandState.SUCCEEDED or row.tried_finished_at is None or row.tried_finished_at <= failed_at:
        return True
    return told_at is not None and told_at > row.tried_finished_at and bool(row.health_repeats)


def screen_is_proven(row: RecoveryFacts, now: datetime) -> bool:
    """Whether the screen fails now, and a restart of the player may mend it.

    The newest health report must be fresh. After a restart or reboot two reports must agree: the ACK does not cover
    the screen, and in the first report the player may still be loading.
    """
    screen, told_at, before_at = ScreenHealthStatus(row.screen_health), row.health_received_at, row.health_previous_at
    if row.screen_failed_since is None or screen not in MENDED_BY_A_START or told_at is None or before_at is None:
        return False
    seen = SeenScreen(screen, row.screen_failed_since, before_at, told_at)
    done_at = row.tried_finished_at if row.tried_state == CommandState.SUCCEEDED else None
    is_of_now = now - told_at <= screens_rules.LASTS and (done_at is None or before_at > done_at)
    return is_of_now and screens_rules.in_a_row(seen)


def why_held(
    row: RecoveryFacts, now: datetime, quiet: tuple[Sentence, datetime | None] | None
) -> tuple[Sentence, datetime | None] | tuple[None, None]:
    """Why recovery leaves this client alone, and until when if that is known; (None, None) if it does not.

    `quiet` is the reason and the end of the client's present quiet time.
    """
    if (for_now := quiet or _shared(row.shared_login_seen_at, now)) is not None:
        return for_now
    if row.shut_down:
        return words_rules.shut_down_on_purpose(), None
    if row.process_status == ProcessStatus.STOPPED:
        return words_rules.stopped_on_purpose(), None
    return None, None


def _shared(seen_at: datetime | None, now: datetime) -> tuple[Sentence, datetime] | None:
    if seen_at is None or now - seen_at >= SHARED_FOR:
        return None
    return words_rules.two_devices(seconds=int((now - seen_at).total_seconds())), seen_at + SHARED_FOR


_stale_after = lru_cache(maxsize=1024)(stale_after)  # few intervals exist, and it is called for each client


def condition(row: RecoveryFacts, now: datetime, fleet: Fleet) -> Condition:
    """Build the condition of a client from its row."""
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
        refused_reason=(row.tried_reason or "") if row.tried_refused else None,
        refused_elsewhere=bool(row.tried_refused and row.tried_elsewhere),
        locked_by_refusal=own_lockout and bool(row.tried_refused),
        sign_at=row.sign_at,
        put_aside=row.put_aside or {},
        screen=ScreenHealthStatus(row.screen_health) if row.screen_failed_since is not None else None,
        screen_failed_at=row.screen_failed_at,
        screen_is_proven=screen_is_proven(row, now),
        opened_at=fleet.opened.get(row.uuid),
    )


def is_heard(client: Condition, now: datetime, fleet: Fleet) -> bool:
    """Whether its last heartbeat is fresh and came in the present listening time; an older one may be out of date."""
    heard, since = client.last_heartbeat_at, fleet.listening_since
    if heard is None or since is None or fleet.bridge_silent:
        return False
    return heard >= since and now - heard <= client.stale_after


def is_silent(client: Condition, now: datetime, fleet: Fleet) -> bool:
    """Whether it gave no sign of life for longer than its threshold while the bridge listened."""
    return _is_beyond(client.last_sign_at, client, now, fleet)


def is_mute(client: Condition, now: datetime, fleet: Fleet) -> bool:
    """Whether other messages arrive, but no heartbeat for longer than its threshold while the bridge listened."""
    return _is_beyond(client.last_heartbeat_at, client, now, fleet) and not is_silent(client, now, fleet)


def _is_beyond(at: datetime | None, client: Condition, now: datetime, fleet: Fleet) -> bool:
    since = fleet.listening_since
    if at is None or since is None or fleet.bridge_silent:
        return False
    return now - max(at, since) > client.stale_after


def is_healthy(client: Condition, now: datetime, fleet: Fleet) -> bool:
    """Whether it is proven well: heard, and nothing crashed, starting, stopped, failing, black or frozen."""
    return is_heard(client, now, fleet) and stays_well(client, now)


def stays_well(client: Condition, now: datetime) -> bool:
    """Whether its last heartbeat is fresh, and it has none of the faults that `is_healthy` names.

    The heartbeat may have come before the bridge reconnected: a reconnection does not make a display ill.
    """
    plays = client.process_status in {ProcessStatus.RUNNING, ProcessStatus.UNKNOWN}
    plays = plays and client.screen not in MENDED_BY_A_START
    heard = client.last_heartbeat_at
    return plays and not client.failure_stands and heard is not None and now - heard <= client.stale_after


def has_recovered(client: Condition, now: datetime, healthy_since: datetime | None) -> bool:
    """Whether a client has been healthy for long enough to reset its ladder."""
    if healthy_since is None:
        return False
    since = max(healthy_since, client.process_status_since or healthy_since)
    return now - since >= HEALTHY_FOR


def evidence(client: Condition, now: datetime, fleet: Fleet) -> RecoveryBasis | None:
    """The proven failure that recovery may act on; None if nothing is proven."""
    if is_heard(client, now, fleet):
        if client.process_status is ProcessStatus.CRASHED:
            return RecoveryBasis.CRASHED
        if client.failure_stands:
            return RecoveryBasis.SERVICE_FAILED
        plays = client.process_status in {ProcessStatus.RUNNING, ProcessStatus.UNKNOWN}
        return RecoveryBasis.SCREEN_FAILED if client.screen_is_proven and plays else None
    return RecoveryBasis.STALE if is_silent(client, now, fleet) else None
