"""Actions of people in a history, by the operations that the API uses; a refused action changes nothing."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import Connection

from extensions.batches import operations as batches
from extensions.batches.rules import ALL_AT_ONCE, REST, BatchRequest
from shared.clients import operations as clients
from shared.commands import operations as commands
from shared.commands.outbox import operations as outbox
from shared.commands.rules import CLIENT_DELETED, CommandRequest
from shared.errors import ServiceError
from shared.quiet import operations as quiet_times
from shared.quiet import rules as quiet_rules
from shared.quiet.hours_rules import Span
from shared.quiet.rules import WantedQuietTime
from shared.recovery import operations as recovery
from shared.recovery.breakers import operations as breakers
from shared.vocabulary import CommandAction, QuietPreset, QuietScope
from tests.lab.simulation.display import Display
from tests.lab.simulation.gate import Killed

if TYPE_CHECKING:
    from tests.lab.simulation.history import History

WHO = "user:anna"


class Operator:
    """A person at the dashboard."""

    def __init__(self, history: "History") -> None:
        self._history = history

    # --- commands ---

    def send(self, display: Display, action: str) -> None:
        """Send a command to a display."""
        history = self._history
        request = CommandRequest(display.uuid, CommandAction(action), "anna", "the operator's wish")
        row = self._ask(lambda connection, now: commands.issue(connection, now, request, history.timings))
        if row is None:
            return
        try:
            outbox.publish_due(history.databases.api, history.mqtt_publisher, history.timings, only_ids=[row.id])
        except (ServiceError, sa.exc.SQLAlchemyError, Killed):
            return
        history.judge.figures["operators' commands"] += 1
        history.commands_went_out()

    def send_to_many(self, displays: Sequence[Display], action: str, *, in_waves: bool) -> None:
        """Send a batch, which the tick and the bridge carry out."""
        uuids = tuple(display.uuid for display in displays)
        waves = (1, "30%", REST) if in_waves else ALL_AT_ONCE
        request = BatchRequest(CommandAction(action), WHO, "for many", waves, clients=uuids)
        if uuids and self._ask(lambda connection, now: batches.create(connection, now, request, uuids)) is not None:
            self._history.judge.figures["operators' batches"] += 1
            self._history.commands_went_out()

    def acknowledge(self, display: Display) -> None:
        """Acknowledge the shown service failure."""
        display.acknowledged_at = self._history.agenda.now
        self._ask(lambda connection, now: clients.clear_service_failed(connection, now, display.uuid, "anna", None))

    def delete(self, display: Display) -> None:
        """Delete the client and revoke its login."""

        def do(connection: Connection, now: datetime) -> bool:
            clients.delete(connection, now, display.uuid)
            commands.abandon(connection, now, display.uuid, CLIENT_DELETED)  # like the API's route
            return True

        if self._ask(do):
            self._count("clients deleted", True)
            self._history.judge.truth.deleted.add(display.uuid)
            self._history.broker.revoke(display.uuid)

    # --- control of recovery ---

    def hold(self, display: Display, seconds: float | None) -> None:
        """Put recovery on hold for `seconds`, or until it is resumed."""
        self.make_quiet(QuietPreset.HOLD, displays=[display], seconds=seconds)

    def resume(self, display: Display) -> None:
        """End a hold or a suspension."""
        if self._ask(lambda connection, now: recovery.resume(connection, now, display.uuid, WHO)):
            self._history.judge.resumed(display.uuid)

    def make_quiet(
        self,
        preset: QuietPreset,
        *,
        site: str | None = None,
        tag: str | None = None,
        displays: Sequence[Display] = (),
        begins_in: float = 0.0,
        seconds: float | None = None,
        spans: tuple[Span, ...] = (),
    ) -> int | None:
        """Make something quiet: a site, a tag, some displays, or, without any, the whole fleet. Returns its id."""
        uuids = tuple(display.uuid for display in displays)
        scope = (
            QuietScope.SITE if site else QuietScope.TAG if tag else QuietScope.CLIENTS if uuids else QuietScope.FLEET
        )

        def do(connection: Connection, now: datetime) -> int:
            begins = now + timedelta(seconds=begins_in)
            ends = None if seconds is None else begins + timedelta(seconds=seconds)
            what = quiet_rules.chosen(preset, None)
            zone = "Europe/Rome" if spans else None
            asked = WantedQuietTime(preset, what, scope, site, tag, uuids, begins, ends, spans, zone, "work")
            return quiet_times.make(connection, now, asked, WHO).id

        made: int | None = self._ask(do)
        self._count(f"quiet times of the kind {preset}", made)
        return made

    def end_quiet(self, quiet_id: int | None) -> None:
        """End a quiet time."""
        if quiet_id is not None:
            self._ask(lambda connection, now: quiet_times.end(connection, now, quiet_id, WHO))

    def release(self, site: str | None) -> None:
        """Release the breaker of this site, or all breakers."""

        def do(connection: Connection, now: datetime) -> tuple[datetime, list[str | None]]:
            return now, breakers.release(connection, now, WHO, site)

        done = self._ask(do)
        if done is not None and done[1]:
            self._count("releases of breakers", True)
            self._history.judge.released(*done)

    def _ask(self, do: Callable[[Connection, datetime], Any]) -> Any:
        """Run `do` in its own transaction. Returns None if it is refused or fails."""
        try:
            with self._history.databases.api.begin() as connection:
                return do(connection, self._history.clocks.database())
        except (ServiceError, sa.exc.SQLAlchemyError, Killed):
            return None

    def _count(self, what: str, done: object) -> None:
        if done:
            self._history.judge.figures[what] += 1
