"""SQL of what displays say of their commands: ACKs, and heartbeats or silence that prove an effect. All guarded."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping

from shared.clients.reports.rules import LATE_AT_LEAST
from shared.commands.endings_store import NOBODYS, ending, guard, undone
from shared.commands.rules import (
    ALREADY_REBOOTED,
    CANCELLED,
    DISPROVED,
    REBOOT_DID_NOT_HAPPEN,
    REBOOT_SHOWS_WITHIN,
    RUNNING,
    SUCCEEDED,
    TOO_LATE,
    Ack,
    Move,
    Sighting,
)
from shared.commands.store import OPEN
from shared.postgres.statements import Constant, among, as_rows, constant, mappings, moment, one_of, rows, table
from shared.tables import client_commands, client_heartbeats, clients
from shared.vocabulary import COMMAND_RANKS, ClientStatus, CommandAction, CommandState, ConfirmedBy, Presence

c = client_commands.c
CONFIRM_WITHIN: Final = timedelta(minutes=15)  # after an ACKed success: longer than any display takes to boot
UNEXPLAINED: Final = (CommandState.FAILED.value, CommandState.REJECTED.value)  # what a reason belongs to
HEARD_OF: Final = c.rank >= COMMAND_RANKS[CommandState.RECEIVED]  # the display has said that it has it
Said = Sequence[Sighting] | None
"""What heartbeats said; None: what those that are stored say."""


def known(connection: Connection, command_ids: Collection[str]) -> dict[str, RowMapping]:
    """What tells whether an ACK of these commands could matter, by id."""
    return {row["id"]: row for row in mappings(connection, _known(), {"ids": list(command_ids)})}


@cache
def _known() -> Constant:
    query = sa.select(c.id, c.client_uuid, c.state, c.late_state, c.confirmed_by, c.outcome_reason, c.traceparent)
    return constant(query.where(one_of(c.id, "ids")))


def traced(connection: Connection, command_ids: Collection[str]) -> Sequence[RowMapping]:
    """What log lines tell of these commands: id, client_uuid, state, outcome_reason and traceparent; by id."""
    return mappings(connection, _traced(), {"ids": list(command_ids)})


@cache
def _traced() -> Constant:
    query = sa.select(c.id, c.client_uuid, c.state, c.outcome_reason, c.traceparent)
    return constant(query.where(one_of(c.id, "ids")).order_by(c.id))


def receive(
    connection: Connection, now: datetime, move: Move, acks: Sequence[Ack], result: Mapping[CommandAction, timedelta]
) -> Sequence[RowMapping]:
    """`received` or `running`: those that moved, and whether this was the first word of the display.

    The time for a result starts with that first word.
    """
    deadlines = {_by(action): now + result[action] for action in CommandAction}
    return mappings(connection, _receive(move), {"now": now, **_told(acks), **deadlines})


@cache
def _receive(move: Move) -> Constant:
    a, now = _acks(), moment("now")
    deadline = sa.case({action.value: moment(_by(action)) for action in CommandAction}, value=c.action)
    stamps: dict[str, Any] = {
        **_from_boot(a),
        "received_at": sa.func.coalesce(c.received_at, now),
        "result_deadline": sa.func.coalesce(c.result_deadline, deadline),
    }
    if move is RUNNING:
        stamps["running_at"] = now
    return constant(
        sa.update(client_commands)
        .where(OPEN, guard(move), *_theirs(a))
        .values(state=move.to.value, outcome_reason=None, **stamps)
        .returning(c.id, (c.received_at == now).label("first_word"))
    )


def _by(action: CommandAction) -> str:
    """The parameter that says until when such a command may take."""
    return f"{action.value}_by"


def finish(connection: Connection, now: datetime, results: Sequence[Ack]) -> list[str]:
    """A display's result: ids of those that it ended."""
    return _ids(connection, _finish(), {"now": now, **_told(results)})


@cache
def _finish() -> Constant:
    a = _acks()
    by_ack = sa.case((a.c.state == CommandState.SUCCEEDED.value, ConfirmedBy.ACK.value), else_=None)
    values = {"state": a.c.state, "finished_at": moment("now"), "outcome_reason": a.c.reason, "confirmed_by": by_ack}
    never_begun = sa.and_(a.c.state == CommandState.FAILED.value, c.running_at.is_(None))
    refused = sa.or_(a.c.state == CommandState.REJECTED.value, never_begun)
    statement = sa.update(client_commands).where(OPEN, guard(SUCCEEDED), *_theirs(a))
    return constant(undone(statement.values(**values, **_from_boot(a)), refused))


def _from_boot(a: sa.TableValuedAlias) -> dict[str, sa.ColumnElement[Any]]:
    """Where the display answers from; an ACK that a heartbeat or health report repeats does not say it."""
    return {
        "acked_boot_id": sa.func.coalesce(a.c.boot_id, c.acked_boot_id),
        "acked_app_instance": sa.func.coalesce(a.c.app_instance, c.acked_app_instance),
    }


def correct_boots(connection: Connection, refused: Sequence[Ack]) -> list[str]:
    """Put the boot that these ACKs come from into the place of the one that their commands were bound to.

    The stored heartbeat told of a boot that is over, and the display's heartbeats do not get through: every further
    command would be refused like this one. A heartbeat that was stored meanwhile knows better. Each of these ACKs
    must have ended its command just now: then the client has no other one that the change could seem to prove.
    Answers whose were changed.
    """
    return _ids(connection, _correct_boots(), _told(refused))


@cache
def _correct_boots() -> Constant:
    a, h = _acks(), client_heartbeats.c
    restarted = sa.and_(h.app_instance == c.if_app_instance, a.c.app_instance != h.app_instance)
    return constant(
        sa.update(client_heartbeats)
        .where(*_theirs(a), h.client_uuid == c.client_uuid, h.boot_id == c.if_boot_id)
        .where(sa.or_(a.c.boot_id != h.boot_id, restarted))
        .values(boot_id=a.c.boot_id, app_instance=sa.func.coalesce(a.c.app_instance, h.app_instance))
        .returning(h.client_uuid)
    )


def keep_late(connection: Connection, now: datetime, results: Sequence[Ack]) -> list[str]:
    """Keep, once, a result that came after its command was given up; ids of those kept."""
    return _ids(connection, _keep_late(), {"now": now, **_told(results)})


@cache
def _keep_late() -> Constant:
    a = _acks()
    over = among(c.state, TOO_LATE)
    statement = sa.update(client_commands).where(over, c.late_state.is_(None), *_theirs(a))
    kept = statement.values(late_state=a.c.state, late_at=moment("now"), **_from_boot(a))
    return constant(undone(kept, a.c.state == CommandState.REJECTED.value))


def confirm_by_ack(connection: Connection, results: Sequence[Ack]) -> list[str]:
    """The display says so too: successes known by evidence are now known by both."""
    return _ids(connection, _confirm_by_ack(), _told(results))


@cache
def _confirm_by_ack() -> Constant:
    a = _acks()
    by_evidence = (c.state == CommandState.SUCCEEDED.value, c.confirmed_by == ConfirmedBy.EVIDENCE.value)
    statement = sa.update(client_commands).where(*by_evidence, *_theirs(a), a.c.state == c.state)
    return constant(statement.values(confirmed_by=ConfirmedBy.BOTH.value).returning(c.id))


def keep_reasons(connection: Connection, results: Sequence[Ack]) -> list[str]:
    """The display says why, after a heartbeat had only said that it did not work; ids of those that had no reason."""
    return _ids(connection, _keep_reasons(), _told(results))


@cache
def _keep_reasons() -> Constant:
    a = _acks()
    unexplained = (among(c.state, UNEXPLAINED), c.outcome_reason.is_(None), a.c.state == c.state)
    statement = sa.update(client_commands).where(*unexplained, *_theirs(a))
    return constant(statement.values(outcome_reason=a.c.reason).returning(c.id))


def succeed_by_evidence(connection: Connection, now: datetime, said: Said) -> list[str]:
    """End what a new boot or a new start of the player proves done; ids of those ended.

    A reboot must have been sent (or may have been, unanswered); a restart must have been received.
    """
    return _ids(connection, _succeed_by_evidence(said is None), {"now": now, **_sightings(said)})


@cache
def _succeed_by_evidence(stored: bool) -> Constant:
    seen = _seen(stored)
    may_have_it = sa.or_(c.rank >= COMMAND_RANKS[CommandState.SENT], c.unanswered_at.is_not(None))
    done = sa.or_(sa.and_(_rebooted(seen), may_have_it), sa.and_(_restarted(seen), HEARD_OF))
    return _succeeding(c.client_uuid == seen.c.client_uuid, done)


def succeed_by_silence(connection: Connection, now: datetime) -> list[str]:
    """End each received shutdown whose display has left or fallen silent since; ids of those ended."""
    return _ids(connection, _succeed_by_silence(), {"now": now})


@cache
def _succeed_by_silence() -> Constant:
    left = sa.and_(
        clients.c.presence == Presence.OFFLINE.value,
        clients.c.presence_at >= c.received_at,
        clients.c.presence_at >= sa.func.coalesce(client_heartbeats.c.last_heartbeat_at, clients.c.presence_at),
    )
    heard_until = clients.c.status_since + LATE_AT_LEAST  # silent since then: its last heartbeat may be as much older
    silent = sa.and_(clients.c.status == ClientStatus.STALE.value, heard_until >= c.received_at)
    theirs = sa.and_(c.client_uuid == clients.c.uuid, client_heartbeats.c.client_uuid == clients.c.uuid)
    asked_for = sa.and_(c.action == CommandAction.SHUTDOWN_HOST.value, HEARD_OF)
    return _succeeding(theirs, asked_for, sa.or_(left, silent))


def _succeeding(*which: sa.ColumnElement[bool]) -> Constant:
    values = {"finished_at": moment("now"), "outcome_reason": None, "confirmed_by": ConfirmedBy.EVIDENCE.value}
    statement = sa.update(client_commands).where(OPEN, guard(SUCCEEDED), *which)
    return constant(statement.values(state=SUCCEEDED.to.value, **values).returning(c.id))


def disprove_reboots(connection: Connection, now: datetime) -> Sequence[RowMapping]:
    """Fail the reboots that a display began long ago, while its heartbeats still tell of the boot from before."""
    return mappings(connection, _disprove_reboots(), {"now": now, "shown_since": now - REBOOT_SHOWS_WITHIN})


@cache
def _disprove_reboots() -> Constant:
    beats = client_heartbeats.c
    same_boot = sa.exists().where(
        beats.client_uuid == c.client_uuid,
        beats.boot_id == c.if_boot_id,
        beats.last_heartbeat_at >= c.running_at + REBOOT_SHOWS_WITHIN,
    )
    why = sa.literal(REBOOT_DID_NOT_HAPPEN)
    return constant(ending(DISPROVED, why, sa.and_(_begun_long_ago(), same_boot)))


def confirm_by_evidence(connection: Connection, now: datetime, said: Said) -> list[str]:
    """A success that only the display's ACK told is now proven by its effect as well."""
    values = {"since": now - CONFIRM_WITHIN, **_sightings(said)}
    return _ids(connection, _confirm_by_evidence(said is None), values)


@cache
def _confirm_by_evidence(stored: bool) -> Constant:
    seen = _seen(stored)
    by_ack = (c.state == CommandState.SUCCEEDED.value, c.confirmed_by == ConfirmedBy.ACK.value)
    return constant(
        sa.update(client_commands)
        .where(*by_ack, c.finished_at > moment("since"), c.client_uuid == seen.c.client_uuid)
        .where(sa.or_(_rebooted(seen), _restarted(seen)))
        .values(confirmed_by=ConfirmedBy.BOTH.value)
        .returning(c.id)
    )


def cancel_overtaken(connection: Connection, now: datetime, said: Said) -> Sequence[RowMapping]:
    """A reboot that provably nobody has is pointless once its display has booted by itself."""
    return mappings(connection, _cancel_overtaken(said is None), {"now": now, **_sightings(said)})


@cache
def _cancel_overtaken(stored: bool) -> Constant:
    seen = _seen(stored)
    booted = sa.exists().where(c.client_uuid == seen.c.client_uuid, _rebooted(seen))
    return constant(ending(CANCELLED, sa.literal(ALREADY_REBOOTED), sa.and_(NOBODYS, booted)))


def clients_with_evidence(connection: Connection, now: datetime) -> list[str]:
    """The clients of open commands about which their heartbeats or their silence may say something."""
    return _ids(connection, _clients_with_evidence(), {"shown_since": now - REBOOT_SHOWS_WITHIN})


@cache
def _clients_with_evidence() -> Constant:
    told = sa.or_(
        _rebooted(client_heartbeats),
        sa.and_(_restarted(client_heartbeats), HEARD_OF),
        _begun_long_ago(),
        sa.and_(c.action == CommandAction.SHUTDOWN_HOST.value, HEARD_OF),
    )
    return constant(sa.select(c.client_uuid).where(OPEN, client_heartbeats.c.client_uuid == c.client_uuid, told))


def _begun_long_ago() -> sa.ColumnElement[bool]:
    """A reboot that must have shown by now."""
    return sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.running_at <= moment("shown_since"))


def _rebooted(seen: sa.FromClause) -> sa.ColumnElement[bool]:
    """A reboot was asked for and the boot is another one; false where either boot is unknown."""
    return sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.if_boot_id != seen.c.boot_id)


def _restarted(seen: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.and_(c.action == CommandAction.RESTART_APP.value, c.if_app_instance != seen.c.app_instance)


def _theirs(a: sa.TableValuedAlias) -> tuple[sa.ColumnElement[bool], ...]:
    """The commands that these ACKs name, of the clients that sent them.

    The ids once more: Postgres takes a table in a parameter for a hundred rows, and reads the history rather.
    """
    return c.id == a.c.id, c.client_uuid == a.c.client_uuid, one_of(c.id, "ids")


def _acks() -> sa.TableValuedAlias:
    names = ("id", "client_uuid", "state", "reason", "boot_id", "app_instance")
    return table("acks", **dict.fromkeys(names, sa.Text))


def _told(acks: Sequence[Ack]) -> dict[str, Any]:
    told = [
        {
            "id": k.command_id,
            "client_uuid": k.client_uuid,
            "state": k.state,
            "reason": k.reason,
            "boot_id": k.boot_id,
            "app_instance": k.app_instance,
        }
        for k in acks
    ]
    return {"acks": as_rows(told), "ids": [ack.command_id for ack in acks]}


def _seen(stored: bool) -> sa.FromClause:
    """What heartbeats said, as a table with client_uuid, boot_id and app_instance."""
    return client_heartbeats if stored else table("seen", client_uuid=sa.Text, boot_id=sa.Text, app_instance=sa.Text)


def _sightings(said: Said) -> dict[str, str]:
    if said is None:
        return {}
    told = [{"client_uuid": s.client_uuid, "boot_id": s.boot_id, "app_instance": s.app_instance} for s in said]
    return {"seen": as_rows(told)}


def _ids(connection: Connection, statement: Constant, values: Mapping[str, Any]) -> list[str]:
    """The only column of its rows."""
    return [name for (name,) in rows(connection, statement, values)]
