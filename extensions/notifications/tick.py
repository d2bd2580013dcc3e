"""What notifications add to the tick, and their job of the task queue."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from extensions.notifications import job, operations
from extensions.notifications.deliveries import store as deliveries_store
from functions.scheduler_tick.frame import Did, Job, Moment, TickPart, World, enqueue_some
from shared.outside import couriers
from shared.outside.task_queue import enqueue_notification
from shared.postgres.door import database_now, transaction


def notify(world: World, _moment: Moment) -> Did:
    """Decide on notifications and enqueue them. A later tick enqueues a failed one again."""
    with transaction(world.engine) as connection:
        decided = operations.decide(connection, database_now(connection), world.config)
    counts = {name: getattr(decided, name) for name in ("told", "recovered", "dropped", "again")}
    if not decided.tasks:
        return {**counts, "left": 0}
    enqueued = enqueue_some(decided.tasks, partial(enqueue_notification, job.queue_of(world.config)))
    return {**counts, "left": len(decided.tasks) - enqueued}


def report(world: World, _moment: Moment) -> Did:
    """Write the reports that channels get in the morning and enqueue them. `notify` enqueues a failed one again."""
    with transaction(world.engine) as connection:
        tasks = operations.report(connection, database_now(connection), world.config)
    if not tasks:
        return {"made": 0}
    enqueued = enqueue_some(tasks, partial(enqueue_notification, job.queue_of(world.config)))
    return {"made": len(tasks), "enqueued": enqueued}


def _jobs(world: World) -> Mapping[str, Job]:
    office = job.PostOffice(world.engine, job.queue_of(world.config), couriers.reach_of(world.config))
    return {job.PATH: lambda request: job.deliver(office, *job.read_delivery(request))}


PART: Final = TickPart(
    steps={"notifications": notify, "reports": report},
    drop_history={"notifications": lambda connection, _, before: deliveries_store.drop_history(connection, before)},
    jobs=_jobs,
)
