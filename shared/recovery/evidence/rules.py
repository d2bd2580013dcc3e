"""The facts of a client that may need recovery, and which of them prove a failure. Pure."""

from collections.abc import Mapping
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
from shared.recovery.breakers.rules import BreakerKey
from shared.vocabulary import (
    MENDED_BY_A_START,
    ClientStatus,
    CommandState,
    Presence,
    ProcessStatus,
    RecoveryBasis,
    ScreenHealthStatus,
)
from shared.words.facts import rounded
from shared.words.sentences import Sentence

HEALTHY_FOR: Final = timedelta(minutes=30)  # time without a failure that resets the ladder


class RecoveryFacts(Struct, frozen=True):
    """One client as recovery reads it from Postgres: see `store.FACTS`.

    `open_...` is its open command, `tried_...` the last command of recovery, `health_...` its newest health report.
    """

    uuid: str
    site: str | None
    status: str
    process_status: ProcessStatus
    process_status_since: datetime | None
    presence: Presence
    shared_login_seen_at: datetime | None
    presence_at: datetime | None
    service_failed_at: datetime | None
    service_mended_at: datetime | None
    service_failed_unit: str | None
    capabilities: list[str] | None
    """Actions that the client can carry out; None: POWER_ACTIONS."""
    lockout_until: datetime | None
    lockout_is_ours: bool
    """Whether the lockout follows recovery's last command."""
    last_heartbeat_at: datetime | None
    interval_seconds: int | None
    sign_at: datetime | None
    """When its last message came that was not a stored heartbeat; recorded while its heartbeats are missing."""
    put_aside: dict[str, int] | None
    """Reason -> how many of its heartbeats became dead letters since the last stored one."""
    open_action: str | None
    """Action of its open command; None without one."""
    open_state: str | None
    open_expires_at: datetime | None
    open_result_deadline: datetime | None
    open_created_at: datetime | None
    open_requested_by: str | None
    step: int
    """How many rungs of the ladder were used."""
    restarts: int
    reboots: int
    refused_restarts: int
    """Commands of recovery that the display did not begin; they do not count as rungs."""
    refused_reboots: int
    tried_since: datetime | None
    unheard_at: datetime | None
    """When the broker answered that a command of recovery had no matching subscribers; None if it never did."""
    healthy_since: datetime | None
    decided: str | None
    decided_at: datetime | None
    tried_action: str | None
    tried_state: str | None
    tried_finished_at: datetime | None
    refused_reason: str | None
    """Why the display refused recovery's last command, by itself; empty: without a reason; None: it did not."""
    refused_elsewhere: bool
    """Whether its boot was then another one than in its last stored heartbeat."""
    screen_health: ScreenHealthStatus
    screen_failed_since: datetime | None
    screen_failed_at: datetime | None
    """When the screen began to count as failing."""
    health_received_at: datetime | None
    health_previous_at: datetime | None
    health_says_none: bool | None
    health_repeats: bool | None
    shut_down: bool

    @property
    def last_sign_at(self) -> datetime | None:
        """When it last gave a sign of life of any kind; None if no heartbeat was ever stored."""
        return None if self.last_heartbeat_at is None else last_sign(self.last_heartbeat_at, self.sign_at)

    @property
    def refused(self) -> int:
        """How many commands of recovery it refused."""
        return self.refused_restarts + self.refused_reboots

    @property
    def open_until(self) -> datetime | None:
        undelivered = self.open_state in {CommandState.QUEUED, CommandState.SENT}
        return self.open_expires_at if undelivered else self.open_result_deadline

    @property
    def done_action(self) -> str | None:
        """Recovery's last action, while the lockout after its success lasts."""
        return self.tried_action if self.lockout_is_ours and self.tried_state == CommandState.SUCCEEDED else None

    @property
    def screen(self) -> ScreenHealthStatus | None:
        """How its screen fails; None when it does not."""
        return None if self.screen_failed_since is None else self.screen_health

    @property
    def plays(self) -> bool:
        return self.process_status in {ProcessStatus.RUNNING, ProcessStatus.UNKNOWN}

    @property
    def failure_stands(self) -> bool:
        """Whether the recorded failure of a service still holds.

        The record stays until a person acknowledges it, so it proves nothing alone: a newer health report may show
        that no service fails. After a successful restart or reboot, only a newer health report proves the failure.
        """
        failed_at, told_at, done_at = self.service_failed_at, self.health_received_at, self.tried_finished_at
        if failed_at is None:
            return False
        if told_at is not None and told_at > failed_at and self.health_says_none:
            return False
        if self.tried_state != CommandState.SUCCEEDED or done_at is None or done_at <= failed_at:
            return True
        return told_at is not None and told_at > done_at and bool(self.health_repeats)


class Fleet(Struct, frozen=True):
    """What recovery knows besides a client's own row: of all alike, by site, by uuid."""

    enabled: bool
    bridge_silent: bool
    listening_since: datetime | None
    """Start of the present listening time; silence before it is not counted."""
    stale_seconds: int
    """HEARTBEAT_STALE_SECONDS."""
    breakers: Mapping[BreakerKey, Sentence]
    """Why each open breaker is open."""
    quiet: Mapping[str, tuple[Sentence, datetime | None]] = field(default_factory=dict)
    """Uuid of a client that a quiet time lets recovery leave alone -> why, and until when (None: until it is ended)."""
    opened: Mapping[str, datetime] = field(default_factory=dict)
    """Uuid of a client whose shop opened a moment ago -> when it opened."""
    late: Sentence | None = None
    """Why recovery waits, because many clients are late and may fall silent together; None when few are late."""
    incidents: Mapping[str, Sentence] = field(default_factory=dict)
    """Uuid of a client in an open incident -> the cause of the incident."""

    def stale_after(self, client: RecoveryFacts) -> timedelta:
        """The age at which this client's last heartbeat is stale."""
        return _stale_after(client.interval_seconds or 0, self.stale_seconds)


_stale_after = lru_cache(maxsize=1024)(stale_after)  # few intervals exist, and it is called for each client


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


def screen_is_proven(client: RecoveryFacts, now: datetime) -> bool:
    """Whether the screen fails now, and a restart of the player may mend it.

    The newest health report must be fresh. After a restart or reboot two reports must agree: the ACK does not cover
    the screen, and in the first report the player may still be loading.
    """
    screen, since = client.screen_health, client.screen_failed_since
    told_at, before_at = client.health_received_at, client.health_previous_at
    if since is None or screen not in MENDED_BY_A_START or told_at is None or before_at is None:
        return False
    seen = SeenScreen(screen, since, before_at, told_at)
    done_at = client.tried_finished_at if client.tried_state == CommandState.SUCCEEDED else None
    is_of_now = now - told_at <= screens_rules.LASTS and (done_at is None or before_at > done_at)
    return is_of_now and screens_rules.in_a_row(seen)


def why_held(client: RecoveryFacts, now: datetime, fleet: Fleet) -> tuple[Sentence, datetime | None] | None:
    """Why recovery leaves this client alone, and until when if that is known; None if it does not."""
    if (quiet := fleet.quiet.get(client.uuid)) is not None:
        return quiet
    seen_at = client.shared_login_seen_at
    if seen_at is not None and now - seen_at < SHARED_FOR:
        return words_rules.two_devices(seconds=rounded(now - seen_at)), seen_at + SHARED_FOR
    if client.shut_down:
        return words_rules.shut_down_on_purpose(), None
    if client.process_status is ProcessStatus.STOPPED:
        return words_rules.stopped_on_purpose(), None
    return None


def is_heard(client: RecoveryFacts, now: datetime, fleet: Fleet) -> bool:
    """Whether its last heartbeat is fresh and came in the present listening time; an older one may be out of date."""
    heard, since = client.last_heartbeat_at, fleet.listening_since
    if heard is None or since is None or fleet.bridge_silent:
        return False
    return heard >= since and now - heard <= fleet.stale_after(client)


def is_silent(client: RecoveryFacts, now: datetime, fleet: Fleet) -> bool:
    """Whether it gave no sign of life for longer than its threshold while the bridge listened."""
    return _is_beyond(client.last_sign_at, client, now, fleet)


def is_mute(client: RecoveryFacts, now: datetime, fleet: Fleet) -> bool:
    """Whether other messages arrive, but no heartbeat for longer than its threshold while the bridge listened."""
    return _is_beyond(client.last_heartbeat_at, client, now, fleet) and not is_silent(client, now, fleet)


def _is_beyond(at: datetime | None, client: RecoveryFacts, now: datetime, fleet: Fleet) -> bool:
    since = fleet.listening_since
    if at is None or since is None or fleet.bridge_silent:
        return False
    return now - max(at, since) > fleet.stale_after(client)


def is_healthy(client: RecoveryFacts, now: datetime, fleet: Fleet) -> bool:
    """Whether it is proven well: heard, and nothing crashed, starting, stopped, failing, or wrong on its screen."""
    return is_heard(client, now, fleet) and stays_well(client, now, fleet)


def stays_well(client: RecoveryFacts, now: datetime, fleet: Fleet) -> bool:
    """Whether its last heartbeat is fresh, and it has none of the faults that `is_healthy` names.

    The heartbeat may have come before the bridge reconnected: a reconnection does not make a display ill.
    """
    heard, plays = client.last_heartbeat_at, client.plays and client.screen not in MENDED_BY_A_START
    return plays and not client.failure_stands and heard is not None and now - heard <= fleet.stale_after(client)


def has_recovered(client: RecoveryFacts, now: datetime, healthy_since: datetime | None) -> bool:
    """Whether a client has been healthy for long enough to reset its ladder."""
    if healthy_since is None:
        return False
    since = max(healthy_since, client.process_status_since or healthy_since)
    return now - since >= HEALTHY_FOR


def evidence(client: RecoveryFacts, now: datetime, fleet: Fleet) -> RecoveryBasis | None:
    """The proven failure that recovery may act on; None if nothing is proven."""
    if is_heard(client, now, fleet):
        if client.process_status is ProcessStatus.CRASHED:
            return RecoveryBasis.CRASHED
        if client.failure_stands:
            return RecoveryBasis.SERVICE_FAILED
        return RecoveryBasis.SCREEN_FAILED if client.plays and screen_is_proven(client, now) else None
    return RecoveryBasis.STALE if is_silent(client, now, fleet) else None
