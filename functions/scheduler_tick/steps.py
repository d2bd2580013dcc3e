"""The steps of a tick, each in a transaction of its own, so that no step can undo another.

A tick that comes more than three periods after the last one sends no command, because its evidence is old: it leaves
out recovery, batches and publishing.
"""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

from msgspec.structs import asdict
from sqlalchemy import Connection

import extensions
from functions.scheduler_tick.frame import Did, Moment, Step, TickPart, World, enqueue_some
from shared.access import attempts_store, audit_store
from shared.access import operations as access
from shared.access import rules as access_rules
from shared.access import store as access_store
from shared.availability import store as availability_store
from shared.client_logs import operations as client_logs
from shared.client_logs import store as client_logs_store
from shared.clients import failures_operations, limits_operations, losses_store, statuses_operations
from shared.clients.statuses_store import MOST_AT_ONCE
from shared.commands import operations as commands
from shared.commands import store as commands_store
from shared.commands.news_operations import log_news
from shared.commands.outbox import operations as outbox
from shared.conversions import operations as conversions
from shared.conversions.rules import timeouts
from shared.event_media.uploads import store as uploads_store
from shared.incidents import operations as incidents
from shared.incidents import store as incidents_store
from shared.leadership import dead_letters_store
from shared.leadership import store as leadership_store
from shared.leadership.rules import listening
from shared.outside.task_queue import enqueue_conversion
from shared.overview import store as overview_store
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
    for part in PARTS:
        if part.forget_the_future:
            with transaction(world.engine) as connection:
                part.forget_the_future(connection, database_now(connection))
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
    uuids: list[str] | None = None
    while uuids is None or uuids:
        with transaction(world.engine) as connection:
            now = database_now(connection)
            bridge = listening(leadership_store.bridge_status(connection), now)
            if uuids is None:
                uuids = statuses_operations.candidates(connection, now, stale_seconds, bridge)
            part, uuids = uuids[:MOST_AT_ONCE], uuids[MOST_AT_ONCE:]
            changed += statuses_operations.sweep(connection, now, stale_seconds, bridge, part)
    return {"changed": changed}


def end_mended_failures(world: World, _moment: Moment) -> Did:
    """End the service failures that displays report no more."""
    with transaction(world.engine) as connection:
        return {"ended": failures_operations.end_mended(connection, database_now(connection))}


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


def publish(world: World, _moment: Moment) -> Did:
    """Publish the due commands: recovery's, and any that the API and the bridge left unpublished."""
    return asdict(outbox.publish_due(world.engine, world.publisher, world.timings))


def sweep_conversions(world: World, _moment: Moment) -> Did:
    """Enqueue again the conversions that no worker holds."""
    lease = timeouts(timedelta(seconds=world.config["CONVERSION_DEADLINE_SECONDS"])).lease
    with transaction(world.engine) as connection:
        forgotten = conversions.sweep(connection, database_now(connection), lease)
    enqueued = enqueue_some(forgotten, partial(enqueue_conversion, world.queue))
    return {"enqueued": enqueued, "left": len(forgotten) - enqueued}


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
        added = {name: drop(connection, moment, before) for part in PARTS for name, drop in part.drop_history.items()}
        return added | {
            "recovery_events": recovery_store.drop_history(connection, before),
            "commands": commands_store.drop_history(connection, before),
            "audit": audit_store.delete_before(connection, before),
            "client_history": availability_store.drop_before(connection, before),
            "losses": losses_store.drop_before(connection, moment.now - losses_store.KEPT),
            "incidents": incidents_store.drop_history(connection, before),
            "quiet_times": quiet_store.drop_history(connection, before),
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


KERNEL: Final[dict[str, Step]] = {
    "clock": mend_clock,
    "expire": expire,
    "statuses": sweep_statuses,
    "mended": end_mended_failures,
    "hours": keep_hours,
    "screens": judge_screens,
    "incidents": watch_incidents,
    "recover": recover,
    "publish": publish,
    "conversions": sweep_conversions,
    "limits": judge_limits,
    "retention": retain,
}
PARTS: Final[list[TickPart]] = [module.PART for module in extensions.parts("tick")]


def _in_order() -> dict[str, Step]:
    steps: dict[str, Step] = {}
    for name, step in KERNEL.items():
        for part in PARTS:
            steps |= part.steps if part.before == name else {}
        steps[name] = step
    return steps


STEPS: Final = _in_order()
"""The steps of a tick, in order: those of extensions stand before the kernel's step that they name."""
LATE_STEPS: Final = {
    **{
        name: step
        for name, step in STEPS.items()
        if name not in {"recover", "publish"}.union(*(p.sends for p in PARTS))
    },
    "breakers": watch_breakers,
}
"""The steps of a late tick."""
