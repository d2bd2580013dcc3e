"""An incident and its timeline, for people."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from shared.errors import IncidentNotFound
from shared.incidents import timeline_rules, timeline_store
from shared.incidents.timeline_store import Entry, ListedIncident
from shared.vocabulary import IncidentEventKind
from shared.words.sentences import Sentence, sentences_in


class TimelineEvent(Struct, frozen=True):
    """An event in an incident. `key` distinguishes events of one kind and moment."""

    at: datetime
    kind: IncidentEventKind
    key: str
    title: Sentence
    count: int | None
    """How many displays the event concerns; None when it is not about displays."""
    uuids: Sequence[str]
    """Some of these displays."""
    details: dict[str, Any]


def find(connection: Connection, incident_id: int) -> ListedIncident:
    """The incident.

    Raises:
        IncidentNotFound: there is none with this id.
    """
    row = timeline_store.get(connection, incident_id)
    if row is None:
        raise IncidentNotFound
    return row


def events(
    connection: Connection, incident_id: int, limit: int, after: tuple[datetime, str, str] | None
) -> list[TimelineEvent]:
    """Up to `limit` events of an incident, the newest first, after the cursor (at, kind, key)."""
    return [_event(entry) for entry in timeline_store.timeline(connection, incident_id, limit, after)]


def _event(entry: Entry) -> TimelineEvent:
    details = sentences_in(entry.details)
    title = timeline_rules.title(entry.kind, entry.count, details, entry.words)
    return TimelineEvent(entry.at, entry.kind, entry.key, title, entry.count, entry.uuids or (), details)
