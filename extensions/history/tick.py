"""What the history of displays adds to the tick."""

from typing import Final

from extensions.history import health_operations, health_rules
from functions.scheduler_tick.frame import Did, Moment, TickPart, World
from shared.postgres.door import database_now, transaction


def sample_health(world: World, moment: Moment) -> Did:
    """Sample the newest health reports of the displays whose turn it is; normally a fifth of the fleet."""
    rows = dropped = 0
    for turn, at in health_rules.due(moment.last_tick_at, moment.now):
        with transaction(world.engine) as connection:
            made, gone = health_operations.sample(connection, database_now(connection), turn, at)
        rows, dropped = rows + made, dropped + gone
    return {"rows": rows, "dropped": dropped}


PART: Final = TickPart(steps={"health_history": sample_health})
