"""What pictures of screens add to the tick."""

from typing import Final

from extensions.screenshots import rules, store
from functions.scheduler_tick.frame import TickPart

PART: Final = TickPart(
    drop_history={
        "screenshots": lambda connection, moment, _: store.drop_before(connection, moment.now - rules.KEPT_FOR)
    }
)
