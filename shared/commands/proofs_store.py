"""SQL of proofs of a command's effect: a new boot or start of the player, silence, a screen. All guarded."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients.reports.rules import LATE_AT_LEAST
from shared.commands.endings_store import NOBODYS, Ended, ending, guard
from shared.commands.rules import (
    ALREADY_REBOOTED,
    CANCELLED,
    DISPROVED,
    REBOOT_DID_NOT_HAPPEN,
    REBOOT_SHOWS_WITHIN,
    SCREEN_DID_NOT_SWITCH,
    SCREEN_SHOWS_WITHIN,
    SUCCEEDED,
    Sighting,
)
from shared.commands.store import OPEN
from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import Query, among, moment, one_of
from shared.tables import client_commands, client_health, client_heartbeats, clients
from shared.vocabulary import (
    COMMAND_RANKS,
    LIT,
    SCREEN_ACTIONS,
    ClientStatus,
    CommandAction,
    CommandState,
    ConfirmedBy,
    Presence,
    ScreenHealthStatus,
)

c, beats = client_commands.c, client_heartbeats.c
CONFIRM_WITHIN: Final = timedelta(minutes=15)  # after an ACKed success: longer than any display takes to boot
HEARD_OF: Final = c.rank >= COMMAND_RANKS[CommandState.RECEIVED]  # the display has acknowledged it
SEEN: Final = ManyRows("seen", Sighting)
Sightings = Sequence[Sighting] | None
"""The boots and player starts of heartbeats; None: of the stored heartbeats."""


def _rebooted(seen: sa.FromClause) -> sa.ColumnElement[bool]:
    """SQL: the command is a reboot and the boot differs; false when either boot is unknown."""
    return sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.if_boot_id != seen.c.boot_id)


def _restarted(seen: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.and_(c.action == CommandAction.RESTART_APP.value, c.if_app_instance != seen.c.app_instance)


def _succeeding(*which: sa.ColumnElement[bool]) -> Query[str]:
    values = {"finished_at": moment("now"), "outcome_reason": None, "confirmed_by": ConfirmedBy.EVIDENCE.value}
    statement = sa.update(client_commands).where(OPEN, guard(SUCCEEDED), *which)
    return Query(lambda: statement.values(state=SUCCEEDED.to.value, **values).returning(c.id), str)


def _succeed_by_start(seen: sa.FromClause) -> Query[str]:
    may_have_it = sa.or_(c.rank >= COMMAND_RANKS[CommandState.SENT], c.unanswered_at.is_not(None))
    new_boot = c.acked_boot_id.is_distinct_from(seen.c.boot_id)  # the command did not begin in this boot
    new_start = c.acked_app_instance.is_distinct_from(seen.c.app_instance)
    went_down = sa.and_(
        c.action == CommandAction.SHUTDOWN_HOST.value,
        c.if_boot_id != seen.c.boot_id,
        c.rank >= COMMAND_RANKS[CommandState.RUNNING],
    )
    done = sa.or_(
        sa.and_(_rebooted(seen), may_have_it, new_boot),
        sa.and_(_restarted(seen), HEARD_OF, new_start),
        sa.and_(went_down, new_boot),
    )
    return _succeeding(c.client_uuid == seen.c.client_uuid, done)


SUCCEED_BY_SIGHTING, SUCCEED_BY_STORED = _succeed_by_start(SEEN.table), _succeed_by_start(client_heartbeats)


def succeed_by_start(connection: Connection, now: datetime, seen: Sightings) -> list[str]:
    """End commands that a new boot or start of the player proves done. Returns their ids.

    A reboot must have been sent (or may have been, unanswered); a restart must have been received. A begun shutdown
    went down, too, if the machine has booted since. The boot or start in which the command began proves nothing.
    """
    query = SUCCEED_BY_STORED if seen is None else SUCCEED_BY_SIGHTING
    return query.all(connection, now=now, **_parameters(seen))


LEFT: Final = sa.and_(
    clients.c.presence == Presence.OFFLINE.value,
    clients.c.presence_at >= c.received_at,
    clients.c.presence_at >= sa.func.coalesce(beats.last_heartbeat_at, clients.c.presence_at),
)
HEARD_UNTIL: Final = clients.c.status_since + LATE_AT_LEAST  # the last heartbeat may be so much before `status_since`
FELL_SILENT: Final = sa.and_(clients.c.status == ClientStatus.STALE.value, c.received_at <= HEARD_UNTIL)
SUCCEED_BY_SILENCE = _succeeding(
    c.client_uuid == clients.c.uuid,
    beats.client_uuid == clients.c.uuid,
    c.action == CommandAction.SHUTDOWN_HOST.value,
    HEARD_OF,
    sa.or_(LEFT, FELL_SILENT),
)


def succeed_by_silence(connection: Connection, now: datetime) -> list[str]:
    """End each received shutdown whose display has disconnected or become silent since. Returns the ids."""
    return SUCCEED_BY_SILENCE.all(connection, now=now)


SUCCEED_BY_PICTURE = _succeeding(c.id == sa.bindparam("command_id"))


def succeed_by_picture(connection: Connection, now: datetime, command_id: str) -> list[str]:
    """End a screenshot whose picture was just stored. Returns its id, unless it was already over."""
    return SUCCEED_BY_PICTURE.all(connection, now=now, command_id=command_id)


health = client_health.c
SCREEN: Final = health.body["screen_health"].astext
"""SQL: the screen, as the newest health report says it."""
IS_OFF: Final = ScreenHealthStatus.OFF.value == SCREEN
IS_LIT: Final = among(SCREEN, LIT)
IS_NOT_OFF: Final = among(SCREEN, (*LIT, ScreenHealthStatus.UNKNOWN))
"""SQL: the screen is on. A display that switches its screen says `off` while it is off, but may not see the picture."""
ASKED_OFF, ASKED_ON = (c.action == action.value for action in (CommandAction.SCREEN_OFF, CommandAction.SCREEN_ON))
ABOUT_A_SCREEN: Final = sa.and_(among(c.action, SCREEN_ACTIONS), HEARD_OF)
SWITCHED: Final = (
    health.client_uuid == c.client_uuid,
    HEARD_OF,
    health.received_at > c.created_at,
    sa.or_(sa.and_(ASKED_OFF, IS_OFF), sa.and_(ASKED_ON, IS_NOT_OFF)),
)
SUCCEED_BY_SCREEN = _succeeding(one_of(c.client_uuid, "uuids"), *SWITCHED)
SUCCEED_BY_ANY_SCREEN = _succeeding(*SWITCHED)


def succeed_by_screen(connection: Connection, now: datetime, uuids: Collection[str] | None) -> list[str]:
    """End the received screen_on and screen_off whose display shows them done; of these clients, or (None) of all.

    The report came after the command was made. A screen that was as asked before it is a success, too.
    """
    if uuids is None:
        return SUCCEED_BY_ANY_SCREEN.all(connection, now=now)
    return SUCCEED_BY_SCREEN.all(connection, now=now, uuids=list(uuids))


IS_OPPOSITE: Final = sa.or_(sa.and_(ASKED_OFF, IS_LIT), sa.and_(ASKED_ON, IS_OFF))
SHOWS_OPPOSITE: Final = sa.exists().where(health.client_uuid == c.client_uuid, IS_OPPOSITE)
"""SQL: the newest health report shows the screen not switched as asked."""
NOT_SWITCHED: Final = sa.exists().where(
    health.client_uuid == c.client_uuid, health.received_at >= c.running_at + SCREEN_SHOWS_WITHIN, IS_OPPOSITE
)


@query.rows(lambda: ending(DISPROVED, sa.literal(SCREEN_DID_NOT_SWITCH), NOT_SWITCHED))
def disprove_screens(connection: Connection, now: datetime) -> list[Ended]:
    """Fail the begun screen_on and screen_off whose display still shows the opposite."""


BEGUN_LONG_AGO: Final = sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.running_at <= moment("shown_since"))
"""SQL: a begun reboot whose new boot must have been seen by now."""
SAME_BOOT: Final = sa.exists().where(
    beats.client_uuid == c.client_uuid,
    beats.boot_id == c.if_boot_id,
    beats.last_heartbeat_at >= c.running_at + REBOOT_SHOWS_WITHIN,
)
DISPROVE_REBOOTS = Query(
    lambda: ending(DISPROVED, sa.literal(REBOOT_DID_NOT_HAPPEN), sa.and_(BEGUN_LONG_AGO, SAME_BOOT)), Ended
)


def disprove_reboots(connection: Connection, now: datetime) -> list[Ended]:
    """Fail the reboots that a display began long ago while its heartbeats still have the old boot."""
    return DISPROVE_REBOOTS.all(connection, now=now, shown_since=now - REBOOT_SHOWS_WITHIN)


CONFIRM_BY_START = Query(
    lambda: (
        sa.update(client_commands)
        .where(c.state == CommandState.SUCCEEDED.value, c.confirmed_by == ConfirmedBy.ACK.value)
        .where(c.finished_at > moment("since"), c.client_uuid == SEEN.c.client_uuid)
        .where(sa.or_(_rebooted(SEEN.table), _restarted(SEEN.table)))
        .values(confirmed_by=ConfirmedBy.BOTH.value)
        .returning(c.id)
    ),
    str,
)


def confirm_by_start(connection: Connection, now: datetime, seen: Sequence[Sighting]) -> list[str]:
    """Confirm by a new boot or start the successes that only an ACK has shown."""
    return CONFIRM_BY_START.all(connection, since=now - CONFIRM_WITHIN, **SEEN.of(seen))


def _cancel_overtaken(seen: sa.FromClause) -> Query[Ended]:
    booted = sa.exists().where(c.client_uuid == seen.c.client_uuid, _rebooted(seen))
    return Query(lambda: ending(CANCELLED, sa.literal(ALREADY_REBOOTED), sa.and_(NOBODYS, booted)), Ended)


CANCEL_OVERTAKEN_BY_SIGHTING, CANCEL_OVERTAKEN_BY_STORED = (
    _cancel_overtaken(SEEN.table),
    _cancel_overtaken(client_heartbeats),
)


def cancel_overtaken(connection: Connection, now: datetime, seen: Sightings) -> list[Ended]:
    """Cancel reboots that provably no display has and whose machine has booted by itself."""
    query = CANCEL_OVERTAKEN_BY_STORED if seen is None else CANCEL_OVERTAKEN_BY_SIGHTING
    return query.all(connection, now=now, **_parameters(seen))


CLIENTS_WITH_PROOF = Query(
    lambda: (
        sa.select(c.client_uuid)
        .where(OPEN, beats.client_uuid == c.client_uuid)
        .where(
            sa.or_(
                _rebooted(client_heartbeats),
                sa.and_(_restarted(client_heartbeats), HEARD_OF),
                BEGUN_LONG_AGO,
                sa.and_(c.action == CommandAction.SHUTDOWN_HOST.value, HEARD_OF),
                ABOUT_A_SCREEN,
            )
        )
    ),
    str,
)


def clients_with_proof(connection: Connection, now: datetime) -> list[str]:
    """The clients of open commands that heartbeats or silence may prove."""
    return CLIENTS_WITH_PROOF.all(connection, shown_since=now - REBOOT_SHOWS_WITHIN)


def _parameters(seen: Sightings) -> dict[str, Any]:
    return {} if seen is None else SEEN.of(seen)
