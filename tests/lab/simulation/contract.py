"""What the contract lets recovery do about a client, written from its text and not from shared/recovery.

It reads facts out of the database by SQL of its own and rules on each client: must act, may act, must not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection

if TYPE_CHECKING:
    from tests.lab.simulation.contract_breakers import Breakers

STALE: Final = timedelta(seconds=180)
INTERVALS: Final = 3
CANARY_AGE: Final = timedelta(seconds=45)
CRASHED_FOR: Final = timedelta(seconds=20)
LADDER: Final = ("restart_app", "restart_app", "reboot_host", "reboot_host")
HEALTHY_FOR: Final = timedelta(minutes=30)
LOOK_AROUND: Final = 4 / 3
FIRST_HEARTBEAT: Final = 2 / 3
LATE: Final = 1 / 2
"""Silence, in thresholds, from which on it must be acted on: before, others that fall silent as well are waited for."""
SMALL_FLEET: Final = 10
LEAST_OPEN: Final = 10
OPEN_SHARE: Final = 0.02  # less LEAST_OPEN
TOO_LONG: Final = timedelta(days=1)
"""Whoever was silent for longer is no case: no reboot cures what nobody missed for a day."""
TICK: Final = timedelta(seconds=60)
LATE_TICKS: Final = 3

CLIENTS: Final = sa.text(
    """
    SELECT c.uuid, c.site, c.process_status::text AS process_status, c.process_status_since, c.presence, c.presence_at,
        c.service_failed_at, c.capabilities, c.lockout_until, h.last_heartbeat_at, h.interval_seconds,
        EXISTS (SELECT FROM client_health AS g WHERE g.client_uuid = c.uuid AND g.received_at > c.service_failed_at
            AND g.body -> 'service_failed' = 'null') AS denies_failure,
        EXISTS (SELECT FROM client_commands AS k WHERE k.client_uuid = c.uuid AND k.source = 'recovery'
            AND k.state = 'succeeded' AND k.finished_at > c.service_failed_at
            AND NOT EXISTS (SELECT FROM client_health AS g WHERE g.client_uuid = c.uuid
                AND g.received_at > k.finished_at AND g.body -> 'service_failed' <> 'null')) AS failure_was_mended,
        EXISTS (SELECT FROM client_commands AS k WHERE k.client_uuid = c.uuid AND k.rank < 90) AS has_open,
        (SELECT max(k.received_at) FROM client_commands AS k
            WHERE k.client_uuid = c.uuid AND k.action = 'shutdown_host' AND k.received_at IS NOT NULL) AS shutdown_at,
        EXISTS (SELECT FROM client_recovery AS r WHERE r.client_uuid = c.uuid
            AND r.held_at IS NOT NULL AND coalesce(r.held_until > :now, true))
        OR EXISTS (SELECT FROM recovery_exclusions AS x WHERE x.client_uuid = c.uuid OR x.site = c.site)
        OR EXISTS (SELECT FROM maintenance_windows AS w WHERE w.starts_at <= :now AND w.ends_at > :now
            AND (w.scope = 'fleet' OR w.site = c.site OR EXISTS (SELECT FROM maintenance_window_clients AS n
                WHERE n.window_id = w.id AND n.client_uuid = c.uuid))) AS is_let_alone
    FROM clients AS c LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE c.deleted_at IS NULL ORDER BY c.uuid
    """
)
COMMANDS: Final = sa.text(
    """
    SELECT id, client_uuid, action, source, state, outcome_reason, rank, created_at, expires_at, result_deadline,
        sent_at, finished_at, lockout_before, running_at, late_state,
        EXISTS (SELECT FROM clients AS c WHERE c.uuid = client_uuid AND c.deleted_at IS NOT NULL) AS is_orphan
    FROM client_commands ORDER BY created_at, id
    """
)
OURSELVES: Final = sa.text("SELECT canary_at, connected_since, last_tick_at FROM bridge_status, scheduler_status")


class Duty(Enum):
    """What a tick has to do about one client."""

    MUST = "must act"
    MAY = "may act"
    NOT = "must not act"


@dataclass(frozen=True)
class Ruling:
    """The duty, the action that it is about, and why."""

    duty: Duty
    why: str
    action: str | None = None
    by_silence: bool = False
    """Whether the only evidence is that nothing is heard."""


@dataclass(frozen=True)
class Facts:
    """What the database says at one moment."""

    now: datetime
    canary_at: datetime | None
    connected_since: datetime | None
    last_tick_at: datetime | None
    clients: Mapping[str, Any]
    commands: Sequence[Any]
    quiet: Mapping[str, timedelta]
    """For how long nothing at all of a client was taken in, by the judge's own count; missing: never heard."""

    @classmethod
    def read(cls, connection: Connection, now: datetime, quiet: Mapping[str, timedelta]) -> "Facts":
        """As everybody sees it now."""
        ours = connection.execute(OURSELVES).one()
        rows = connection.execute(CLIENTS, {"now": now}).mappings().all()
        return cls(
            now,
            ours.canary_at,
            ours.connected_since,
            ours.last_tick_at,
            {row["uuid"]: SimpleNamespace(**row) for row in rows},
            connection.execute(COMMANDS).all(),
            quiet,
        )

    @property
    def cap(self) -> int:
        """How many recovery commands may be open at once."""
        heard = [c for c in self.clients.values() if c.last_heartbeat_at and self.now - c.last_heartbeat_at <= TOO_LONG]
        return max(LEAST_OPEN, int(OPEN_SHARE * len(heard)) - LEAST_OPEN)

    def silence(self, client: Any) -> timedelta:
        """Since the last sign of its agent; it was heard before."""
        since_heartbeat: timedelta = self.now - client.last_heartbeat_at
        return min(since_heartbeat, self.quiet.get(client.uuid, timedelta.max))

    def silence_of_all(self, client: Any) -> timedelta:
        """The same with presence as a sign, which the connection of a display that hangs gives too."""
        silence = self.silence(client)
        is_online = client.presence == "online" and client.presence_at is not None
        return min(silence, self.now - client.presence_at) if is_online else silence

    @property
    def is_deaf(self) -> bool:
        """Whether the canary says that we hear nobody."""
        return self.canary_at is None or self.now - self.canary_at > CANARY_AGE

    @property
    def is_late(self) -> bool:
        """Whether a tick now comes so late that it only sweeps."""
        return self.last_tick_at is not None and self.now - self.last_tick_at > LATE_TICKS * TICK

    @property
    def are_many_late(self) -> bool:
        """Whether so many are on the way to be stale that silence may be our fault: no breaker can know yet."""
        ages = [(self.now - c.last_heartbeat_at) / threshold(c) for c in self.clients.values() if c.last_heartbeat_at]
        late = sum(LATE < age <= 1 for age in ages)
        seen = [c for c in self.clients.values() if not is_held(c) and not c.is_let_alone and c.last_heartbeat_at]
        return late >= 5 and bool(late >= 0.2 * len(seen))

    @property
    def open_by_recovery(self) -> list[Any]:
        return [command for command in self.commands if command.rank < 90 and command.source == "recovery"]


def threshold(client: Any) -> timedelta:
    """Silence beyond which a client is stale."""
    return max(STALE, INTERVALS * timedelta(seconds=client.interval_seconds or 30))


def is_held(client: Any) -> bool:
    """Stopped, or shut down on purpose and not heard since."""
    is_shut_down = client.shutdown_at is not None and (
        client.last_heartbeat_at is None or client.last_heartbeat_at <= client.shutdown_at + timedelta(seconds=60)
    )
    return client.process_status == "stopped" or is_shut_down


def is_healthy(facts: Facts, client: Any) -> bool:
    """Freshly heard, and nothing that it says is wrong. The mark of a failure that is over is no illness."""
    fails = client.service_failed_at is not None and not client.denies_failure and not client.failure_was_mended
    return (
        client.last_heartbeat_at is not None
        and facts.now - client.last_heartbeat_at <= threshold(client)
        and client.process_status != "crashed"
        and not fails
    )


def rule(facts: Facts, client: Any, steps: int, breakers: "Breakers") -> Ruling:
    """What a tick at `facts.now` has to do about this client, `steps` rungs up its ladder."""
    obstacles = {
        "the canary is dead": facts.is_deaf,
        "the tick is late": facts.is_late,
        "a command is open": client.has_open,
        "locked out": client.lockout_until is not None and client.lockout_until > facts.now,
        "never heard": client.last_heartbeat_at is None,
        "suspended": steps >= len(LADDER),
        "people want it left alone": client.is_let_alone,
    }
    for why, stands in obstacles.items():
        if stands:
            return Ruling(Duty.NOT, why)
    if facts.now - client.last_heartbeat_at <= threshold(client):
        return _of_heard(facts, client, steps)
    if facts.silence(client) <= threshold(client):
        return Ruling(Duty.NOT, "its agent talks")
    return _of_silent(facts, client, breakers)


def _of_heard(facts: Facts, client: Any, steps: int) -> Ruling:
    action = LADDER[steps]
    if client.process_status == "stopped":
        return Ruling(Duty.NOT, "stopped")
    if client.process_status == "crashed":
        if facts.now - client.process_status_since < CRASHED_FOR:
            return Ruling(Duty.NOT, "crashed a moment ago")
        return Ruling(_duty(facts, client, action), "crashed", action)
    if client.service_failed_at is not None:
        tried = [c for c in facts.commands if c.client_uuid == client.uuid and c.created_at >= client.service_failed_at]
        duty = Duty.MAY if tried or client.denies_failure else _duty(facts, client, action)
        return Ruling(duty, "service failed", action)
    return Ruling(Duty.NOT, "healthy")


def _of_silent(facts: Facts, client: Any, breakers: "Breakers") -> Ruling:
    since = facts.connected_since
    listened = timedelta() if since is None else facts.now - since
    silence = min(facts.silence(client), listened)
    obstacles = {
        "not listened for long enough": min(facts.now - client.last_heartbeat_at, listened) <= threshold(client),
        "held": is_held(client),
        "unreachable": client.presence == "offline",
        "a breaker is open": breakers.holds_back(client) is True,
        "silent for more than a day": min(facts.silence_of_all(client), listened) > TOO_LONG,
    }
    for why, stands in obstacles.items():
        if stands:
            return Ruling(Duty.NOT, why)
    if _came_online_lately(facts, client):
        return Ruling(Duty.NOT, "it came online a moment ago")
    waits = facts.are_many_late or silence <= threshold(client) * LOOK_AROUND
    waits = waits or breakers.holds_back(client) is None or facts.silence(client) > TOO_LONG
    waits = waits or _came_online_after(client, facts.now - threshold(client) * LOOK_AROUND)
    duty = Duty.MAY if waits else _duty(facts, client, "reboot_host", is_silent=True)
    return Ruling(duty, "stale", "reboot_host", by_silence=True)


def _came_online_after(client: Any, moment: datetime) -> bool:
    """Whether its connection gave a sign since: that of a display that hangs may, so it is no proof that it talks."""
    return bool(client.presence == "online" and client.presence_at is not None and client.presence_at > moment)


def _came_online_lately(facts: Facts, client: Any) -> bool:
    """Whether its first heartbeat since it came online is not due yet."""
    if client.presence != "online" or client.presence_at is None:
        return False
    return bool(timedelta() <= facts.now - client.presence_at < threshold(client) * FIRST_HEARTBEAT)


def _duty(facts: Facts, client: Any, action: str, *, is_silent: bool = False) -> Duty:
    """MUST, unless the display is known to be out of reach, or cannot do it, or what it said is of an earlier time."""
    if facts.connected_since is None or (not is_silent and client.last_heartbeat_at < facts.connected_since):
        return Duty.MAY
    if client.capabilities is not None and action not in client.capabilities:
        return Duty.MAY
    heard_at = client.last_heartbeat_at
    if client.presence == "offline" and client.presence_at is not None and client.presence_at >= heard_at:
        return Duty.MAY
    last = [c for c in facts.commands if c.client_uuid == client.uuid and c.source == "recovery"][-1:]
    if any(was_undone(c) and c.finished_at >= heard_at for c in last):
        return Duty.MAY
    return Duty.MUST


def was_undone(command: Any) -> bool:
    """Proven to have reached nobody: it counts for nothing."""
    never_left = command.state == "expired" and command.outcome_reason in {"never_published", "no_subscriber"}
    return bool(command.state == "cancelled" or never_left)


def was_refused(command: Any) -> bool:
    """The display did not begin it: no rung, but it is refused four times at most."""
    never_begun = command.state == "failed" and command.running_at is None
    return bool("rejected" in {command.state, command.late_state} or never_begun)


def steps_of(commands: Iterable[Any], since: datetime | None) -> int:
    """How many rungs recovery has climbed with these commands of one client since its ladder began.

    All of them where so many were refused.
    """
    asked = [c for c in commands if c.source == "recovery" and (since is None or c.created_at >= since)]
    refused = sum(was_refused(c) for c in asked)
    return len(LADDER) if refused >= len(LADDER) else sum(not was_undone(c) and not was_refused(c) for c in asked)
