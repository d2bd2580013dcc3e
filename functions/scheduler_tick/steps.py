"""What one tick does, step by step; each in a transaction of its own, so that none can undo another.

Sweeps run at every tick. A tick that comes more than three periods after the last one leaves out recovery and
publishing: its evidence is old.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from functions.scheduler_tick.deliveries import queue_of
from shared.access import attempts_store, audit_store
from shared.access import operations as access
from shared.access import rules as access_rules
from shared.access import store as access_store
from shared.client_logs import operations as client_logs
from shared.client_logs import store as client_logs_store
from shared.clients import health_history_operations, losses_store, statuses_operations
from shared.clients.health_history_rules import due as health_turns_due
from shared.clients.reports import operations as reports
from shared.commands import operations as commands
from shared.commands import store as commands_store
from shared.commands.acks import operations as acks
from shared.commands.batches import operations as batches
from shared.commands.batches import store as batches_store
from shared.commands.outbox import operations as outbox
from shared.commands.rules import Timings
from shared.config import Config
from shared.conversions import operations as conversions
from shared.conversions import store as conversions_store
from shared.conversions.rules import timeouts
from shared.history import store as history_store
from shared.incidents import operations as incidents
from shared.incidents import store as incidents_store
from shared.leadership import dead_letters_store
from shared.leadership import store as leadership_store
from shared.leadership.rules import listening
from shared.maintenance import store as maintenance_store
from shared.notifications import operations as notifications
from shared.notifications import snoozes_store
from shared.notifications.channels import store as channels_store
from shared.notifications.deliveries import store as deliveries_store
from shared.outside.mqtt import Publisher
from shared.outside.task_queue import TaskQueue, enqueue_conversion, enqueue_notification
from shared.overview import store as overview_store
from shared.overview.rules import is_scheduler_late
from shared.postgres.door import database_now, transaction
from shared.recovery import operations as recovery
from shared.recovery import store as recovery_store
from shared.structured_log import failure

TICK_LOCK: Final = 7_305_004  # advisory lock: one tick at a time
LONGEST_STEP: Final = timedelta(minutes=5)  # a process that was frozen for good holds the lock no longer
HOLD: Final = sa.text(f"SET LOCAL idle_in_transaction_session_timeout = {LONGEST_STEP // timedelta(milliseconds=1)}")
WEEKS_AHEAD: Final = 3  # log partitions made ahead: room for a scheduler that is away over a holiday
SHORTEST_PERIOD: Final = timedelta(seconds=5)  # for lateness only
BATCH_BUDGET_SECONDS: Final = 10.0
ENQUEUE_BUDGET: Final = timedelta(seconds=10)

Did = Mapping[str, Any]
"""What a step did, as JSON values for people."""


@dataclass(frozen=True)
class World:
    """What a tick works with."""

    config: Config
    engine: Engine
    publisher: Publisher
    queue: TaskQueue
    timings: Timings


@dataclass(frozen=True)
class Moment:
    """When this tick began by the database's clock, and when the last one did (None: there was none)."""

    now: datetime
    last_tick_at: datetime | None

    def is_late(self, period: timedelta) -> bool:
        """Whether this tick comes so late after the last one that it only sweeps.

        With a period of a second or two a slow machine alone is late by three of them: that does not count.
        """
        counted = max(period, SHORTEST_PERIOD)
        return self.last_tick_at is not None and is_scheduler_late(self.last_tick_at, self.now, counted)

    @property
    def clock_was_set_back(self) -> bool:
        """Whether the last tick was at a time that has not come yet."""
        return self.last_tick_at is not None and self.last_tick_at > self.now

    def opens_an_hour(self) -> bool:
        """Whether this is the first tick of its hour: what grows by days needs no look each minute."""
        return self.last_tick_at is None or _hour_of(self.last_tick_at) != _hour_of(self.now)


def _hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def run(world: World) -> dict[str, Any]:
    """One tick: {did, failed, late, duration_ms}, or {skipped} while another one runs.

    The lock is held by an open transaction and so ends with it, whatever happens to this process. That transaction is
    idle while a step uses another one: for LONGEST_STEP at most, and it is used briefly before each step.
    """
    began = time.monotonic()
    with transaction(world.engine) as holder:
        holder.execute(HOLD)
        if not holder.execute(sa.select(sa.func.pg_try_advisory_xact_lock(TICK_LOCK))).scalar_one():
            return {"skipped": "another tick is running"}
        moment = Moment(database_now(holder), overview_store.scheduler(holder).last_tick_at)
        late = moment.is_late(timedelta(seconds=world.config["TICK_SECONDS"]))
        did, failed = _work(world, holder, moment, SWEEPS if late else STEPS)
        duration_ms = round((time.monotonic() - began) * 1000)
        with transaction(world.engine) as connection:
            overview_store.record_tick(connection, moment.now, duration_ms, {**did, "failed": failed, "late": late})
    return {"did": did, "failed": failed, "late": late, "duration_ms": duration_ms}


def _work(
    world: World, holder: Connection, moment: Moment, steps: Mapping[str, Callable[[World, Moment], Did]]
) -> tuple[dict[str, Did], list[str]]:
    """Every step in turn: what each did, and the names of those that failed.

    Raises SQLAlchemyError where the lock is lost: another tick may run.
    """
    did: dict[str, Did] = {}
    failed: list[str] = []
    for name, step in steps.items():
        holder.execute(sa.select(1))
        try:
            did[name] = step(world, moment)
        except Exception:  # noqa: BLE001 - one step must not stop the others
            failure("tick_step_failed", "a step of the tick failed; the others go on", step=name)
            failed.append(name)
    return did, failed


def mend_clock(world: World, moment: Moment) -> Did:
    """After the database's clock was set back: forget every time that now lies in the future."""
    if not moment.clock_was_set_back:
        return {}
    with transaction(world.engine) as connection:
        recovery.forget_the_future(connection, database_now(connection))
    with transaction(world.engine) as connection:
        commands_store.forget_the_future(connection, database_now(connection), world.timings.lockout)
    with transaction(world.engine) as connection:
        for store in (incidents_store, deliveries_store, channels_store, conversions_store):
            store.forget_the_future(connection, database_now(connection))
    with transaction(world.engine) as connection:  # the tick that saw it is forgotten last: else the next one repeats
        overview_store.forget_future_tick(connection, moment.now)
        return {"heard_in_the_future": reports.forget_the_future(connection, database_now(connection))}


def expire(world: World, _moment: Moment) -> Did:
    """End commands that are past their deadline."""
    with transaction(world.engine) as connection:
        report = commands.expire(connection, database_now(connection))
    acks.log_news(report.news)
    counts = asdict(report)
    del counts["news"]
    return counts


def sweep_statuses(world: World, _moment: Moment) -> Did:
    """Show displays as late or stale where their time is up, in case no bridge does it."""
    stale_seconds, max_age = world.config["HEARTBEAT_STALE_SECONDS"], world.config["CANARY_MAX_AGE_SECONDS"]
    with transaction(world.engine) as connection:
        now = database_now(connection)
        bridge = listening(leadership_store.bridge_status(connection), now, timedelta(seconds=max_age))
        return {"changed": statuses_operations.sweep(connection, now, stale_seconds, bridge)}


def watch_incidents(world: World, _moment: Moment) -> Did:
    """Group displays that fail together into incidents, from the states that were just swept."""
    with transaction(world.engine) as connection:
        return asdict(incidents.observe(connection, database_now(connection), world.config))


def recover(world: World, _moment: Moment) -> Did:
    """Ask for the restarts and reboots that are due; the next step publishes them."""
    with transaction(world.engine) as connection:
        report = asdict(recovery.recover(connection, database_now(connection), world.config, world.timings))
    del report["command_ids"]
    return report


def watch_breakers(world: World, _moment: Moment) -> Did:
    """Open and close breakers by the heartbeats, in a late tick that leaves recovery out."""
    with transaction(world.engine) as connection:
        return {"open": recovery.watch_breakers(connection, database_now(connection), world.config)}


def send_waves(world: World, _moment: Moment) -> Did:
    """Send the waves of batches that are due, pause those that go wrong, and end those that are over."""
    return asdict(batches.work_off(world.engine, world.timings, BATCH_BUDGET_SECONDS))


def publish(world: World, _moment: Moment) -> Did:
    """Publish what is due: recovery's commands, and what the API and the bridge left over."""
    return asdict(outbox.publish_due(world.engine, world.publisher, world.timings))


def sweep_conversions(world: World, _moment: Moment) -> Did:
    """Put conversions that nobody works on back on the queue."""
    lease = timeouts(timedelta(seconds=world.config["CONVERSION_DEADLINE_SECONDS"])).lease
    with transaction(world.engine) as connection:
        forgotten = conversions.sweep(connection, database_now(connection), lease)
    until = time.monotonic() + ENQUEUE_BUDGET.total_seconds()
    enqueued = 0
    for conversion_id, generation in forgotten:
        if time.monotonic() > until:
            break  # a later sweep finds the rest again
        enqueued += enqueue_conversion(world.queue, conversion_id, generation)
    return {"enqueued": enqueued, "left": len(forgotten) - enqueued}


def notify(world: World, _moment: Moment) -> Did:
    """Decide on notifications and put them on the queue; a later sweep finds those that did not get there."""
    with transaction(world.engine) as connection:
        decided = notifications.decide(connection, database_now(connection), world.config)
    counts = {name: getattr(decided, name) for name in ("told", "recovered", "dropped", "again")}
    return {**counts, "left": len(decided.tasks) - _ask_for(world, decided.tasks)}


def _ask_for(world: World, tasks: Sequence[tuple[int, int]]) -> int:
    """Put these messages on their queue until the time is up; how many got there."""
    if not tasks:
        return 0
    queue = queue_of(world.config)
    until = time.monotonic() + ENQUEUE_BUDGET.total_seconds()
    enqueued = 0
    for delivery_id, generation in tasks:
        if time.monotonic() > until:
            break
        enqueued += enqueue_notification(queue, delivery_id, generation)
    return enqueued


def sample_health(world: World, moment: Moment) -> Did:
    """Sample the newest health reports of the displays whose turn it is; normally a fifth of the fleet."""
    kept = timedelta(days=world.config["HEALTH_HISTORY_DAYS"])
    rows = dropped = 0
    for turn, at in health_turns_due(moment.last_tick_at, moment.now):
        with transaction(world.engine) as connection:
            made, gone = health_history_operations.sample(connection, database_now(connection), turn, at, kept)
        rows, dropped = rows + made, dropped + gone
    return {"rows": rows, "dropped": dropped}


def retain(world: World, moment: Moment) -> Did:
    """Once an hour: make the log partitions ahead, and drop what has been kept long enough."""
    if not moment.opens_an_hour():
        return {}
    made = _make_partitions(world, moment)
    config = world.config
    with transaction(world.engine) as connection:
        dropped = client_logs.drop_expired(
            connection, moment.now, config["LOG_RETENTION_DAYS"], config["ERROR_LOG_RETENTION_DAYS"]
        )
    return {"partitions_made": made, "partitions_dropped": len(dropped), **_drop_history(world, moment)}


def _make_partitions(world: World, moment: Moment) -> int:
    with transaction(world.engine) as connection:
        return client_logs_store.ensure_partitions(connection, moment.now, WEEKS_AHEAD)


def _drop_history(world: World, moment: Moment) -> Did:
    """Commands, decisions, clients' history and the audit log; sessions and failed sign-ins that mean nothing now."""
    before = moment.now - timedelta(days=world.config["HISTORY_RETENTION_DAYS"])
    with transaction(world.engine) as connection:
        return {
            "recovery_events": recovery_store.drop_history(connection, before),
            "command_batches": batches_store.drop_history(connection, before),
            "commands": commands_store.drop_history(connection, before),
            "audit": audit_store.delete_before(connection, before),
            "client_history": history_store.drop_before(connection, before),
            "losses": losses_store.drop_before(connection, moment.now - losses_store.KEPT),
            "incidents": incidents_store.drop_history(connection, before),
            "maintenance_windows": maintenance_store.drop_history(connection, before),
            "notifications": deliveries_store.drop_history(connection, before),
            "snoozes": snoozes_store.drop_history(connection, before),
            "dead_letters": dead_letters_store.drop(
                connection, moment.now - timedelta(days=world.config["LOG_RETENTION_DAYS"])
            ),
            "sessions": access_store.delete_sessions_before(connection, moment.now),
            "sign_in_addresses": attempts_store.delete_addresses_before(
                connection, moment.now - access_rules.ADDRESS_IS_KNOWN
            ),
            "audit_repeats": access.flush_repeats(connection, moment.now),
            "login_failures": attempts_store.delete_failures_before(
                connection, moment.now - timedelta(seconds=world.config["LOGIN_FAILURES_SECONDS"])
            ),
        }


STEPS: Final[dict[str, Callable[[World, Moment], Did]]] = {
    "clock": mend_clock,
    "expire": expire,
    "statuses": sweep_statuses,
    "incidents": watch_incidents,
    "recover": recover,
    "batches": send_waves,
    "publish": publish,
    "conversions": sweep_conversions,
    "notifications": notify,
    "health_history": sample_health,
    "retention": retain,
}
"""In this order."""
SWEEPS: Final = {
    **{name: step for name, step in STEPS.items() if step not in {recover, send_waves, publish}},
    "breakers": watch_breakers,
}
"""All that a late tick does."""
