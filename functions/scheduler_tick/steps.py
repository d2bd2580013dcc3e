"""The steps of a tick, each in a transaction of its own, so that no step can undo another.

A tick that comes more than three periods after the last one sends no command, because its evidence is old: it leaves
out recovery, batches and publishing.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Connection, Engine

from extensions.batches import operations as batches
from extensions.batches import schedules_operations as schedules
from extensions.batches import schedules_rules as schedule_rules
from extensions.batches import schedules_store
from extensions.batches import store as batches_store
from extensions.history import health_operations as health_history_operations
from extensions.history import store as history_store
from extensions.history.health_rules import due as health_turns_due
from extensions.notifications import operations as notifications
from extensions.notifications.deliveries import store as deliveries_store
from extensions.notifications.job import queue_of
from extensions.screenshots import rules as screenshots_rules
from extensions.screenshots import store as screenshots_store
from shared.access import attempts_store, audit_store
from shared.access import operations as access
from shared.access import rules as access_rules
from shared.access import store as access_store
from shared.client_logs import operations as client_logs
from shared.client_logs import store as client_logs_store
from shared.clients import limits_operations, losses_store, statuses_operations
from shared.commands import operations as commands
from shared.commands import store as commands_store
from shared.commands.news_operations import log_news
from shared.commands.outbox import operations as outbox
from shared.commands.rules import Timings
from shared.config import Config
from shared.conversions import operations as conversions
from shared.conversions.rules import timeouts
from shared.event_media.uploads import store as uploads_store
from shared.incidents import operations as incidents
from shared.incidents import store as incidents_store
from shared.leadership import dead_letters_store
from shared.leadership import store as leadership_store
from shared.leadership.rules import listening
from shared.outside.mqtt import Publisher
from shared.outside.task_queue import TaskQueue, enqueue_conversion, enqueue_notification
from shared.overview import store as overview_store
from shared.overview.rules import is_scheduler_late
from shared.postgres import set_back
from shared.postgres.door import database_now, transaction
from shared.postgres.query import NO_ROW, Query
from shared.quiet import displays_operations
from shared.quiet import store as quiet_store
from shared.recovery import operations as recovery
from shared.recovery import screens_operations
from shared.recovery import store as recovery_store
from shared.structured_log import failure

TICK_LOCK: Final = 7_305_004  # advisory lock: one tick at a time
LONGEST_STEP: Final = timedelta(minutes=5)  # the longest time that a frozen process holds the lock
HOLD = Query(f"SET LOCAL idle_in_transaction_session_timeout = {LONGEST_STEP // timedelta(milliseconds=1)}", NO_ROW)
TRY_LOCK = Query(f"SELECT pg_try_advisory_xact_lock({TICK_LOCK})", bool)
TOUCH = Query("SELECT 1", int)
WEEKS_AHEAD: Final = 3  # log partitions are made ahead, in case the scheduler is down over a holiday
BATCH_BUDGET_SECONDS: Final = 10.0
ENQUEUE_BUDGET: Final = timedelta(seconds=10)

Did = Mapping[str, Any]
"""The counts of a step, as JSON values for people."""


class World(Struct, frozen=True):
    """The settings and services that a tick uses."""

    config: Config
    engine: Engine
    publisher: Publisher
    queue: TaskQueue
    timings: Timings


class Moment(Struct, frozen=True):
    """When this tick began, and the last one (None: there was none), by the database's clock."""

    now: datetime
    last_tick_at: datetime | None

    @property
    def is_late(self) -> bool:
        """Whether this tick comes so late after the last one that it sends no command."""
        return self.last_tick_at is not None and is_scheduler_late(self.last_tick_at, self.now)

    @property
    def clock_was_set_back(self) -> bool:
        """Whether the last tick lies in the future."""
        return self.last_tick_at is not None and self.last_tick_at > self.now

    def opens_an_hour(self) -> bool:
        """Whether this is the first tick of its hour, in UTC: retention runs once an hour."""
        return self.last_tick_at is None or _hour_of(self.last_tick_at) != _hour_of(self.now)


def _hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def run(world: World) -> dict[str, Any]:
    """Run one tick. Returns {did, failed, late, duration_ms}, or {skipped} while another tick runs.

    An open transaction holds the lock, so the lock ends even if this process is killed. The transaction idles while a
    step runs; Postgres ends it after LONGEST_STEP of idling. A statement before each step shows whether it still lives.
    """
    began = time.monotonic()
    with transaction(world.engine) as holder:
        HOLD.run(holder)
        if not TRY_LOCK.one(holder):
            return {"skipped": "another tick is running"}
        moment = Moment(database_now(holder), overview_store.scheduler(holder).last_tick_at)
        late = moment.is_late
        did, failed = _work(world, holder, moment, LATE_STEPS if late else STEPS)
        duration_ms = round((time.monotonic() - began) * 1000)
        with transaction(world.engine) as connection:
            overview_store.record_tick(connection, moment.now, duration_ms, {**did, "failed": failed, "late": late})
    return {"did": did, "failed": failed, "late": late, "duration_ms": duration_ms}


def _work(
    world: World, holder: Connection, moment: Moment, steps: Mapping[str, Callable[[World, Moment], Did]]
) -> tuple[dict[str, Did], list[str]]:
    """Run every step in order. Returns what each did, and the names of the failed steps.

    Raises SQLAlchemyError when the lock is lost: another tick may run.
    """
    did: dict[str, Did] = {}
    failed: list[str] = []
    for name, step in steps.items():
        TOUCH.run(holder)
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
    set_to_now = {}
    for table in set_back.TABLES:
        with transaction(world.engine) as connection:
            set_to_now[table] = set_back.forget_the_future(connection, database_now(connection), table)
    with transaction(world.engine) as connection:
        commands_store.forget_the_future(connection, database_now(connection), world.timings.lockout)
    with transaction(world.engine) as connection:
        uploads_store.forget_the_future(connection, database_now(connection))
    with transaction(world.engine) as connection:
        schedules.forget_the_future(connection, database_now(connection))
    with transaction(world.engine) as connection:  # last: after a failure above, the next tick must repeat all of it
        overview_store.forget_future_tick(connection, moment.now)
    return {table: rows for table, rows in set_to_now.items() if rows}


def expire(world: World, _moment: Moment) -> Did:
    """End commands that are past their deadline."""
    with transaction(world.engine) as connection:
        report = commands.expire(connection, database_now(connection))
    log_news(report.news)
    counts = asdict(report)
    del counts["news"]
    return counts


def sweep_statuses(world: World, _moment: Moment) -> Did:
    """Show displays as late or stale when their heartbeat is overdue, in case no bridge does it."""
    stale_seconds = world.config["HEARTBEAT_STALE_SECONDS"]
    changed: int = 0
    last: str | None = ""
    while last is not None:
        with transaction(world.engine) as connection:
            now = database_now(connection)
            bridge = listening(leadership_store.bridge_status(connection), now)
            part = statuses_operations.sweep(connection, now, stale_seconds, bridge, last)
        changed, last = changed + part.changed, part.last
    return {"changed": changed}


def watch_incidents(world: World, _moment: Moment) -> Did:
    """Group displays that fail together into incidents, by the states that were just swept."""
    with transaction(world.engine) as connection:
        return asdict(incidents.observe(connection, database_now(connection)))


def keep_hours(world: World, _moment: Moment) -> Did:
    """Let displays keep the opening hours of their shop; the bridge sends them."""
    with transaction(world.engine) as connection:
        return {"changed": displays_operations.let_displays_keep(connection, database_now(connection))}


def judge_screens(world: World, _moment: Moment) -> Did:
    """Let screens that are off fail, or fail no more, by whether somebody planned that."""
    with transaction(world.engine) as connection:
        return {"changed": screens_operations.judge_off(connection, database_now(connection))}


def judge_limits(world: World, _moment: Moment) -> Did:
    """Judge by the newest health reports which displays pass a limit: of disk, memory, heat and so on."""
    with transaction(world.engine) as connection:
        return asdict(limits_operations.judge(connection, database_now(connection)))


def recover(world: World, _moment: Moment) -> Did:
    """Store the restarts and reboots that recovery decides on; a later step publishes them."""
    with transaction(world.engine) as connection:
        report = asdict(recovery.recover(connection, database_now(connection), world.config, world.timings))
    del report["command_ids"]
    return report


def watch_breakers(world: World, _moment: Moment) -> Did:
    """Open and close breakers in a late tick, which skips recovery."""
    with transaction(world.engine) as connection:
        return {"open": recovery.watch_breakers(connection, database_now(connection), world.config)}


def make_scheduled(world: World, _moment: Moment) -> Did:
    """Make the batches of schedules whose time has come; the next step, or the next tick, sends them."""
    return asdict(schedules.make_due(world.engine, schedule_rules.GRACE, BATCH_BUDGET_SECONDS))


def send_waves(world: World, _moment: Moment) -> Did:
    """Send the batches' waves that are due, pause batches with too many failures, and end finished batches."""
    return asdict(batches.work_off(world.engine, world.timings, BATCH_BUDGET_SECONDS))


def publish(world: World, _moment: Moment) -> Did:
    """Publish the due commands: recovery's, and any that the API and the bridge left unpublished."""
    return asdict(outbox.publish_due(world.engine, world.publisher, world.timings))


def sweep_conversions(world: World, _moment: Moment) -> Did:
    """Enqueue again the conversions that no worker holds."""
    lease = timeouts(timedelta(seconds=world.config["CONVERSION_DEADLINE_SECONDS"])).lease
    with transaction(world.engine) as connection:
        forgotten = conversions.sweep(connection, database_now(connection), lease)
    enqueued = _enqueue(forgotten, partial(enqueue_conversion, world.queue))
    return {"enqueued": enqueued, "left": len(forgotten) - enqueued}


def notify(world: World, _moment: Moment) -> Did:
    """Decide on notifications and enqueue them. A later tick enqueues a failed one again."""
    with transaction(world.engine) as connection:
        decided = notifications.decide(connection, database_now(connection), world.config)
    counts = {name: getattr(decided, name) for name in ("told", "recovered", "dropped", "again")}
    if not decided.tasks:
        return {**counts, "left": 0}
    enqueued = _enqueue(decided.tasks, partial(enqueue_notification, queue_of(world.config)))
    return {**counts, "left": len(decided.tasks) - enqueued}


def report(world: World, _moment: Moment) -> Did:
    """Write the reports that channels get in the morning and enqueue them. `notify` enqueues a failed one again."""
    with transaction(world.engine) as connection:
        tasks = notifications.report(connection, database_now(connection), world.config)
    if not tasks:
        return {"made": 0}
    return {"made": len(tasks), "enqueued": _enqueue(tasks, partial(enqueue_notification, queue_of(world.config)))}


def _enqueue(tasks: Sequence[tuple[int, int]], enqueue: Callable[[int, int], bool]) -> int:
    """Enqueue tasks, given by (id, generation), until ENQUEUE_BUDGET is spent. Returns how many were enqueued.

    A later tick finds the rest.
    """
    until = time.monotonic() + ENQUEUE_BUDGET.total_seconds()
    enqueued = 0
    for row_id, generation in tasks:
        if time.monotonic() > until:
            break
        enqueued += enqueue(row_id, generation)
    return enqueued


def sample_health(world: World, moment: Moment) -> Did:
    """Sample the newest health reports of the displays whose turn it is; normally a fifth of the fleet."""
    rows = dropped = 0
    for turn, at in health_turns_due(moment.last_tick_at, moment.now):
        with transaction(world.engine) as connection:
            made, gone = health_history_operations.sample(connection, database_now(connection), turn, at)
        rows, dropped = rows + made, dropped + gone
    return {"rows": rows, "dropped": dropped}


def retain(world: World, moment: Moment) -> Did:
    """Once an hour: make the log partitions ahead, and drop data beyond its retention."""
    if not moment.opens_an_hour():
        return {}
    made = _make_partitions(world, moment)
    with transaction(world.engine) as connection:
        dropped = client_logs.drop_expired(connection, moment.now, world.config["LOG_RETENTION_DAYS"])
    return {"partitions_made": made, "partitions_dropped": len(dropped), **_drop_history(world, moment)}


def _make_partitions(world: World, moment: Moment) -> int:
    with transaction(world.engine) as connection:
        return client_logs_store.ensure_partitions(connection, moment.now, WEEKS_AHEAD)


def _drop_history(world: World, moment: Moment) -> Did:
    """Delete history, the audit log and dead letters beyond their retention, and sessions and failures that expired."""
    before = moment.now - timedelta(days=world.config["HISTORY_RETENTION_DAYS"])
    with transaction(world.engine) as connection:
        return {
            "recovery_events": recovery_store.drop_history(connection, before),
            "schedules": schedules_store.drop_history(connection, before),
            "command_batches": batches_store.drop_history(connection, before),
            "commands": commands_store.drop_history(connection, before),
            "audit": audit_store.delete_before(connection, before),
            "client_history": history_store.drop_before(connection, before),
            "losses": losses_store.drop_before(connection, moment.now - losses_store.KEPT),
            "incidents": incidents_store.drop_history(connection, before),
            "quiet_times": quiet_store.drop_history(connection, before),
            "notifications": deliveries_store.drop_history(connection, before),
            "screenshots": screenshots_store.drop_before(connection, moment.now - screenshots_rules.KEPT_FOR),
            "dead_letters": dead_letters_store.drop(
                connection, moment.now - timedelta(days=world.config["LOG_RETENTION_DAYS"])
            ),
            "sessions": access_store.delete_sessions_before(connection, moment.now),
            "sign_in_addresses": attempts_store.delete_addresses_before(
                connection, moment.now - access_rules.ADDRESS_IS_KNOWN
            ),
            "audit_repeats": access.flush_repeats(connection, moment.now),
            "login_failures": attempts_store.delete_failures_before(
                connection, moment.now - access_rules.FAILURES_COUNT_FOR
            ),
        }


STEPS: Final[dict[str, Callable[[World, Moment], Did]]] = {
    "clock": mend_clock,
    "expire": expire,
    "statuses": sweep_statuses,
    "hours": keep_hours,
    "screens": judge_screens,
    "incidents": watch_incidents,
    "recover": recover,
    "schedules": make_scheduled,
    "batches": send_waves,
    "publish": publish,
    "conversions": sweep_conversions,
    "limits": judge_limits,
    "notifications": notify,
    "reports": report,
    "health_history": sample_health,
    "retention": retain,
}
"""The steps of a tick, in order."""
LATE_STEPS: Final = {
    **{name: step for name, step in STEPS.items() if step not in {recover, send_waves, publish}},
    "breakers": watch_breakers,
}
"""The steps of a late tick."""
