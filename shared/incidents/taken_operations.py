"""Use cases of a person who looks after an incident or a failed service: while somebody does, nobody else is called."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients import rules as clients_rules
from shared.errors import ClientNotFound, IncidentNotFound, NothingToTake
from shared.incidents import rules, store, timeline_rules
from shared.incidents.rules import Holder
from shared.vocabulary import IncidentEventKind


class Taking(Struct, frozen=True):
    """A person who takes a trouble. `instead_of`: from whom; `note` None: the person's note stays as it is."""

    by: str
    note: str | None = None
    instead_of: str | None = None


def take_incident(connection: Connection, now: datetime, incident_id: int, taking: Taking) -> tuple[Holder, Holder]:
    """Let a person look after an incident. Returns who did before, and who does now.

    Raises:
        IncidentNotFound: there is none with this id.
        NothingToTake: it is over.
        AlreadyTaken: somebody else looks after it, and the person does not take over from that one.
    """
    was = _incident(connection, incident_id)
    if was.closed_at is not None:
        raise NothingToTake
    held = rules.taken(was, taking.by, now, taking.note, taking.instead_of)
    store.write_incident(connection, incident_id, held.taken_by, held.taken_at, held.note)
    if was.taken_by == taking.by:
        return was, held
    words = timeline_rules.is_on_it(by=taking.by)
    if was.taken_by is not None:
        words = timeline_rules.took_over(by=taking.by, was=was.taken_by)
    store.record(connection, now, [incident_id], IncidentEventKind.TAKEN, words)
    return was, held


def give_incident_back(connection: Connection, now: datetime, incident_id: int, by: str) -> bool:
    """Let nobody look after an incident. False: nobody did.

    Raises:
        IncidentNotFound: there is none with this id.
        AlreadyTaken: somebody else looks after it.
    """
    was = _incident(connection, incident_id)
    held = rules.given_back(was, by)
    if was.taken_by is None or was.closed_at is not None:
        return False
    store.write_incident(connection, incident_id, held.taken_by, held.taken_at, held.note)
    store.record(connection, now, [incident_id], IncidentEventKind.TAKEN, timeline_rules.gave_back(by=by))
    return True


def take_failure(
    connection: Connection, now: datetime, uuid: str, failed_at: datetime, taking: Taking
) -> tuple[Holder, Holder]:
    """Let a person look after the failed service of a client. Returns who did before, and who does now.

    Raises:
        ClientNotFound: there is none with this uuid.
        FailureChanged: it failed again since `failed_at`.
        NothingToTake: the failure was acknowledged, or is mended.
        AlreadyTaken: somebody else looks after it, and the person does not take over from that one.
    """
    was = _failure(connection, uuid)
    clients_rules.check_still_that_failure(was.service_failed_at, failed_at)
    if was.service_failed_at is None:
        raise NothingToTake
    held = rules.taken(was, taking.by, now, taking.note, taking.instead_of)
    store.write_failure(connection, uuid, held.taken_by, held.taken_at, held.note)
    return was, held


def give_failure_back(connection: Connection, uuid: str, by: str) -> bool:
    """Let nobody look after the failed service of a client. False: nobody did.

    Raises:
        ClientNotFound: there is none with this uuid.
        AlreadyTaken: somebody else looks after it.
    """
    was = _failure(connection, uuid)
    held = rules.given_back(was, by)
    store.write_failure(connection, uuid, held.taken_by, held.taken_at, held.note)
    return was.taken_by is not None


def _incident(connection: Connection, incident_id: int) -> store.HeldIncident:
    held = store.lock_incident(connection, incident_id)
    if held is None:
        raise IncidentNotFound
    return held


def _failure(connection: Connection, uuid: str) -> store.HeldFailure:
    held = store.lock_failure(connection, uuid)
    if held is None:
        raise ClientNotFound
    return held
