"""/api/settings: every setting that is not secret, and the state of the scheduler and the bridge."""

from datetime import datetime
from typing import Any

from msgspec.structs import asdict

from functions.api.bodies import Answer, answer_of
from functions.api.routing import Bound, Call, Routes
from shared.leadership import store as leadership_store
from shared.leadership.rules import BridgeStatus, listening
from shared.overview import store as overview_store
from shared.overview.operations import Scheduler
from shared.overview.rules import is_scheduler_late
from shared.vocabulary import Role

routes = Routes("settings", "/api/settings", "The settings that the service was started with.")


class SettingShown(Answer):
    """One setting."""

    value: Any
    default: Any
    unit: str
    meaning: str


class SchedulerShown(Scheduler, frozen=True):
    """The last tick; null before the first one."""


class BridgeShown(BridgeStatus, frozen=True):
    """What the leading bridge last wrote about itself."""

    state: str
    silent_since: datetime | None


class Settings(Answer):
    """Settings by name, scheduler and bridge."""

    settings: dict[str, SettingShown]
    scheduler: SchedulerShown
    bridge: BridgeShown


@routes.get("", role=Role.VIEWER, bound=Bound.FLEET)
def show_settings(call: Call) -> Settings:
    """Every setting that is not secret, the last tick, and the state of the bridge."""
    config = call.services.config
    with call.transaction() as (connection, now):
        tick = overview_store.scheduler(connection)
        status = leadership_store.bridge_status(connection)
    late = is_scheduler_late(tick.last_tick_at, now)
    heard = listening(status, now)
    state = "silent" if heard.deaf else "listening"
    return Settings(
        settings={name: answer_of(SettingShown, shown) for name, shown in config.describe().items()},
        scheduler=answer_of(SchedulerShown, tick, late=late),
        bridge=answer_of(BridgeShown, asdict(status), state=state, silent_since=heard.deaf_since),
    )
