"""What the tick keeps of displays' health, and what is shown of it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from shared.clients import operations as clients
from shared.clients.health_history import rules, store
from shared.clients.health_history.rules import Extremes, Sample


@dataclass(frozen=True)
class History:
    """One client's measures over a time: points without gaps between them, and each measure in three numbers."""

    since: datetime
    until: datetime
    step: timedelta
    points: list[Sample]
    summary: dict[str, Extremes | None]


def sample(connection: Connection, now: datetime, turn: int, at: datetime, kept: timedelta) -> tuple[int, int]:
    """Sample the displays of a turn as of `at`, and drop what of theirs is older than `kept`: rows made, rows dropped.

    May be repeated: a moment that was sampled stays as it is.
    """
    return store.sample(connection, turn, at, now - rules.EVERY), store.drop_before(connection, turn, now - kept)


def history(
    connection: Connection, now: datetime, uuid: str, since: datetime, until: datetime, kept: timedelta
) -> History:
    """A client's history, as far as it is kept: `since` and `until` of the answer may lie closer together.

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    clients.check_known(connection, uuid)
    since = max(since, now - kept)
    until = max(since, min(until, now))
    samples = store.samples_of(connection, uuid, since, until)
    return History(
        since,
        until,
        rules.step_of(since, until),
        rules.points(samples, since, until),
        {measure: rules.summary(samples, measure) for measure in rules.MEASURES},
    )
