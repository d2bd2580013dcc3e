"""What batches and schedules add to the tick."""

from typing import Final

from msgspec.structs import asdict

from extensions.batches import operations, schedules_operations, schedules_rules, schedules_store, store
from functions.scheduler_tick.frame import Did, Moment, TickPart, World

BUDGET_SECONDS: Final = 10.0


def make_scheduled(world: World, _moment: Moment) -> Did:
    """Make the batches of schedules whose time has come; the next step, or the next tick, sends them."""
    return asdict(schedules_operations.make_due(world.engine, schedules_rules.GRACE, BUDGET_SECONDS))


def send_waves(world: World, _moment: Moment) -> Did:
    """Send the batches' waves that are due, pause batches with too many failures, and end finished batches."""
    return asdict(operations.work_off(world.engine, world.timings, BUDGET_SECONDS))


PART: Final = TickPart(
    steps={"schedules": make_scheduled, "batches": send_waves},
    before="publish",
    sends=frozenset({"batches"}),
    forget_the_future=schedules_operations.forget_the_future,
    drop_history={
        "schedules": lambda connection, _, before: schedules_store.drop_history(connection, before),
        "command_batches": lambda connection, _, before: store.drop_history(connection, before),
    },
)
