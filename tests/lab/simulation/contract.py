"""What the contract lets recovery do about a client, written from the contract's text and not from shared/recovery.

It reads facts by its own SQL, and rules on each client: recovery must act, may act, or must not act.
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
"""Silence, in thresholds, after which recovery must act; before, it may wait to see whether others fall silent."""
SMALL_FLEET: Final = 10
LEAST_OPEN: Final = 10
OPEN_SHARE: Final = 0.02  # less LEAST_OPEN
TOO_LONG: Final = timedelta(days=1)
"""After a longer silence recovery need not act: a reboot would have helped before."""
MENDED: Final = ("black", "white", "frozen", "hung", "error_page", "no_page")
"""States of the screen that the player may cause; no command mends cables and switches."""
REPORTS_LAST: Final = timedelta(minutes=5)
REPORTS_IN_A_ROW: Final = timedelta(minutes=15)
SURE_OF_SCREEN: Final = timedelta(seconds=20)
TOGETHER: Final = timedelta(minutes=5)
"""Displays that fell silent within this time may be the first of many that speak less often."""
OTHER_SCREENS: Final = timedelta(seconds=60)
"""How long recovery waits after a screen began to fail, to see whether others fail too."""
TICK: Final = timedelta(seconds=60)
LATE_TICKS: Final = 3

CLIENTS: Final = sa.text(
    """
    SELECT c.uuid, c.site, c.process_status::text AS process_status, c.process_status_since, c.presence, c.presence_at,
        c.service_failed_at, c.status, c.screen_health::text AS screen, c.screen_health_since, c.screen_failed_at,
        c.screen_off_by,
        (SELECT g.received_at FROM client_health AS g WHERE g.client_uuid = c.uuid) AS reported_at,
        (SELECT g.previous_at FROM client_health AS g WHERE g.client_uuid = c.uuid) AS reported_before,
        c.capabilities, c.lockout_until, h.last_heartbeat_at, h.interval_seconds,
        EXISTS (SELECT FROM client_health AS g WHERE g.client_uuid = c.uuid AND g.received_at > c.service_failed_at
            AND g.body -> 'service_failed' = 'null') AS denies_failure,
        EXISTS (SELECT FROM client_commands AS k WHERE k.client_uuid = c.uuid AND k.source = 'recovery'
            AND k.state = 'succeeded' AND k.finished_at > c.service_failed_at
            AND NOT EXISTS (SELECT FROM client_health AS g WHERE g.client_uuid = c.uuid
                AND g.received_at > k.finished_at AND g.body -> 'service_failed' <> 'null')) AS failure_was_mended,
        EXISTS (SELECT FROM client_commands AS k WHERE k.client_uuid = c.uuid AND k.rank < 90) AS has_open,
        (SELECT max(k.received_at) FROM client_commands AS k
            WHERE k.client_uuid = c.uuid AND k.action = 'shutdown_host' AND k.received_at IS NOT NULL) AS shutdown_at,
        -- one that began when it was made holds also after the database's clock was set back
        EXISTS (SELECT FROM quiet_times AS q, LATERAL (SELECT greatest(:now, q.created_at) AS at) AS m
            WHERE 'recovery' = ANY(q.quiet) AND q.starts_at <= m.at
            AND coalesce(q.ends_at > m.at, true) AND coalesce(q.ended_at > m.at, true)
            AND (q.scope = 'fleet' OR q.site = c.site OR q.tag = ANY(c.tags) OR c.uuid = ANY(q.clients))
            AND (q.spans = '[]' OR (q.preset <> 'opening_hours') = EXISTS (
                SELECT FROM jsonb_array_elements(q.spans) AS s(span), generate_series(0, 1) AS back,
                    LATERAL (SELECT m.at AT TIME ZONE q.time_zone AS here) AS h,
                    LATERAL (SELECT CAST(here AS date) - back AS day) AS d
                WHERE here >= day + CAST(span ->> 'begins' AS time)
                    AND here < day + CAST(span ->> 'nights' AS integer) + CAST(span ->> 'ends' AS time)))
        ) AS is_let_alone,
        EXISTS (SELECT FROM quiet_times AS q WHERE q.preset = 'opening_hours') AS shops_close
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
    """What a tick must, may or must not do about a client."""

    MUST = "must act"
    MAY = "may act"
    NOT = "must not act"


@dataclass(frozen=True)
class Ruling:
    """A duty, its action, and the reason."""

    duty: Duty
    why: str
    action: str | None = None
    by_silence: bool = False
    """Whether silence is the only evidence."""


@dataclass(frozen=True)
class Facts:
    """The facts in the database at one moment."""

    now: datetime
    canary_at: datetime | None
    connected_since: datetime | None
    last_tick_at: datetime | None
    clients: Mapping[str, Any]
    commands: Sequence[Any]
    quiet: Mapping[str, timedelta]
    """Uuid -> time since its last received message, counted by the judge; a client that was never heard is missing."""

    @classmethod
    def read(cls, connection: Connection, now: datetime, quiet: Mapping[str, timedelta]) -> "Facts":
        """Read the committed facts."""
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
        """Time since the last sign of the client's agent; it was heard at some time."""
        since_heartbeat: timedelta = self.now - client.last_heartbeat_at
        return min(since_heartbeat, self.quiet.get(client.uuid, timedelta.max))

    def silence_of_all(self, client: Any) -> timedelta:
        """The same with presence as a sign; the connection of a hanging display gives it too."""
        silence = self.silence(client)
        is_online = client.presence == "online" and client.presence_at is not None
        return min(silence, self.now - client.presence_at) if is_online else silence

    @property
    def is_deaf(self) -> bool:
        """Whether the canary shows that the bridge hears nobody."""
        return self.canary_at is None or self.now - self.canary_at > CANARY_AGE

    @property
    def is_late(self) -> bool:
        """Whether a tick now comes so late that it only sweeps."""
        return self.last_tick_at is not None and self.now - self.last_tick_at > LATE_TICKS * TICK

    @property
    def are_many_late(self) -> bool:
        """Whether so many clients will soon be stale that the service may be at fault, before a breaker can open."""
        heard = [c for c in self.clients.values() if c.last_heartbeat_at]
        ages = [(self.now - c.last_heartbeat_at, threshold(c)) for c in heard]
        late = sum(LATE * limit < age <= limit + TOGETHER for age, limit in ages)
        seen = [c for c in self.clients.values() if not is_held(c) and not c.is_let_alone and c.last_heartbeat_at]
        return late >= 5 and bool(late >= 0.2 * len(seen))

    @property
    def open_by_recovery(self) -> list[Any]:
        return [command for command in self.commands if command.rank < 90 and command.source == "recovery"]


def threshold(client: Any) -> timedelta:
    """The age of the last sign at which a client is stale."""
    return max(STALE, INTERVALS * timedelta(seconds=client.interval_seconds or 30))


def is_held(client: Any) -> bool:
    """Whether it was stopped, or shut down on purpose and not heard since."""
    is_shut_down = client.shutdown_at is not None and (
        client.last_heartbeat_at is None or client.last_heartbeat_at <= client.shutdown_at + timedelta(seconds=60)
    )
    return client.process_status == "stopped" or is_shut_down


def is_healthy(facts: Facts, client: Any) -> bool:
    """Whether it was heard lately and reports no fault; an unacknowledged failure that is over does not count."""
    fails = client.service_failed_at is not None and not client.denies_failure and not client.failure_was_mended
    return (
        client.last_heartbeat_at is not None
        and facts.now - client.last_heartbeat_at <= threshold(client)
        and client.process_status != "crashed"
        and not fails
        and not (screen_fails(client) and client.screen in MENDED)
    )


def screen_fails(client: Any) -> bool:
    """Whether its screen counts as failing."""
    since, failed_at = client.screen_health_since, client.screen_failed_at
    return since is not None and failed_at is not None and bool(failed_at >= since)


def rule(facts: Facts, client: Any, steps: int, breakers: "Breakers") -> Ruling:
    """The ruling for a tick at `facts.now` on this client, which is `steps` rungs up its ladder."""
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
        return _of_heard(facts, client, steps, breakers)
    if facts.silence(client) <= threshold(client):
        return Ruling(Duty.NOT, "its agent talks")
    return _of_silent(facts, client, breakers)


def _of_heard(facts: Facts, client: Any, steps: int, breakers: "Breakers") -> Ruling:
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
    if client.screen in MENDED and screen_fails(client):
        return _of_screen(facts, client, action, breakers)
    return Ruling(Duty.NOT, "healthy")


def _of_screen(facts: Facts, client: Any, action: str, breakers: "Breakers") -> Ruling:
    """Rule on a failing screen: two fresh reports in a row after recovery's last action, and few other such screens."""
    own = [c for c in facts.commands if c.client_uuid == client.uuid and c.source == "recovery"]
    done_at = own[-1].finished_at if own and own[-1].state == "succeeded" else None
    at, before = client.reported_at, client.reported_before
    row = before is not None and client.screen_health_since <= before and at - before <= REPORTS_IN_A_ROW
    obstacles = {
        "the player is starting": client.process_status not in {"running", "unknown"},
        "its screen was reported once": not row or at - client.screen_health_since < SURE_OF_SCREEN,
        "its last report is old": facts.now - at > REPORTS_LAST,
        "its last restart is not judged yet": done_at is not None and row and before <= done_at,
        "many screens fail": breakers.screens.hold_back(client),
    }
    for why, stands in obstacles.items():
        if stands:
            return Ruling(Duty.NOT, why)
    if facts.now - client.screen_failed_at < OTHER_SCREENS:
        return Ruling(Duty.NOT, "whether other screens fail is seen first")
    return Ruling(_duty(facts, client, action), "its screen fails", action)


def _of_silent(facts: Facts, client: Any, breakers: "Breakers") -> Ruling:
    since = facts.connected_since
    listened = timedelta() if since is None else facts.now - since
    silence = min(facts.silence(client), listened)
    holds_back = breakers.holds_back(client)
    if client.shops_close:  # after a shop opened, silence from before counts later and by another moment
        holds_back = None
    obstacles = {
        "not listened for long enough": min(facts.now - client.last_heartbeat_at, listened) <= threshold(client),
        "held": is_held(client),
        "unreachable": client.presence == "offline",
        "a breaker is open": holds_back is True,
        "silent for more than a day": min(facts.silence_of_all(client), listened) > TOO_LONG,
    }
    for why, stands in obstacles.items():
        if stands:
            return Ruling(Duty.NOT, why)
    if _came_online_lately(facts, client):
        return Ruling(Duty.NOT, "it came online a moment ago")
    waits = facts.are_many_late or silence <= threshold(client) * LOOK_AROUND
    waits = waits or holds_back is None or facts.silence(client) > TOO_LONG
    waits = waits or _came_online_after(client, facts.now - threshold(client) * LOOK_AROUND)
    duty = Duty.MAY if waits else _duty(facts, client, "reboot_host", is_silent=True)
    return Ruling(duty, "stale", "reboot_host", by_silence=True)


def _came_online_after(client: Any, moment: datetime) -> bool:
    """Whether its connection gave a sign since. That does not prove that it talks: a hanging display connects too."""
    return bool(client.presence == "online" and client.presence_at is not None and client.presence_at > moment)


def _came_online_lately(facts: Facts, client: Any) -> bool:
    """Whether it came online so lately that its first heartbeat is not due yet."""
    if client.presence != "online" or client.presence_at is None:
        return False
    return bool(timedelta() <= facts.now - client.presence_at < threshold(client) * FIRST_HEARTBEAT)


def _duty(facts: Facts, client: Any, action: str, *, is_silent: bool = False) -> Duty:
    """MUST, unless no command can reach the display, it cannot do the action, or its reports are out of date."""
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
    """Whether the command provably reached no display, so that it does not count."""
    never_left = command.state == "expired" and command.outcome_reason in {"never_published", "no_subscriber"}
    return bool(command.state == "cancelled" or never_left or was_denied(command))


def was_denied(command: Any) -> bool:
    """Whether the broker forbade the publish, so that it reached nobody."""
    return bool(command.state == "failed" and command.outcome_reason == "publish_denied")


def was_refused(command: Any) -> bool:
    """Whether the display refused it: it counts as no rung, but at most four commands may be refused."""
    never_begun = command.state == "failed" and command.running_at is None and not was_denied(command)
    return bool("rejected" in {command.state, command.late_state} or never_begun)


def steps_of(commands: Iterable[Any], since: datetime | None) -> int:
    """How many rungs these commands of a client have used since its ladder began.

    All rungs count as used after too many refusals.
    """
    asked = [c for c in commands if c.source == "recovery" and (since is None or c.created_at >= since)]
    refused = sum(was_refused(c) for c in asked)
    return len(LADDER) if refused >= len(LADDER) else sum(not was_undone(c) and not was_refused(c) for c in asked)
