"""/api/clients/<uuid:uuid>/commands and /api/commands: send commands to displays and follow them to their proof."""

from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec

from functions.api.bodies import Body
from functions.api.idempotency import keyed, once
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes import commands as shapes
from functions.api.shapes.commands import ASKED_WITH
from functions.problems import InvalidField
from shared.access.rules import check_may, check_may_send
from shared.clients import operations as clients
from shared.commands import operations, store
from shared.commands.outbox import operations as outbox
from shared.commands.rules import CommandRequest
from shared.commands.store import CommandRow
from shared.errors import (
    ClientNotFound,
    CommandInFlight,
    CommandLockedOut,
    CommandNotCancellable,
    CommandNotFound,
    Forbidden,
    NotCapable,
    ScreenshotsOff,
)
from shared.quiet import operations as quiet_times
from shared.quiet import rules as quiet_rules
from shared.sites import pictures_operations
from shared.structured_log import event
from shared.trace import trace_id
from shared.vocabulary import CommandAction, CommandSource, Role
from shared.words.sentences import Sentence

routes = Routes("commands", "/api", "Commands: sent once, tracked to their proven end.")

PUBLISH_SECONDS = 3.0  # a request waits no longer for the broker; then the bridge publishes the command


class NewCommand(Body):
    """A command for a display."""

    action: CommandAction
    reason: Annotated[str, msgspec.Meta(max_length=500, description="why, for the history")] = ""
    ttl_seconds: Annotated[int, msgspec.Meta(ge=10, le=86_400)] | None = None
    override_lockout: bool = False


class EndOfCommand(Body):
    """Why the command is ended."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=500, description="why, for the history")]


@routes.post(
    "/clients/<uuid:uuid>/commands",
    role=Role.OPERATOR,
    bound=Bound.CLIENTS,
    statuses={202: "Stored; published as soon as the broker takes it"},
    raises=(
        ClientNotFound,
        CommandInFlight,
        CommandLockedOut,
        Forbidden,
        NotCapable,
        ScreenshotsOff,
    ),
    headers=ASKED_WITH,
)
def send_command(call: Call, uuid: str, body: NewCommand) -> shapes.Command:
    """Store a command and publish it. The answer shows its state; `queued` is not an error.

    No quiet time holds a person's command back; `cuts_through` says which ones apply to the display now.
    """
    request = _request(call, uuid, body)
    timings = operations.timings(call.services.config)
    with call.transaction() as (connection, now):

        def issue() -> CommandRow:
            if body.action is CommandAction.SCREENSHOT:
                pictures_operations.check_allowed(connection, uuid)
            issued = operations.issue(connection, now, request, timings)
            call.audit(connection, now, f"command.{body.action}", uuid, command_id=issued.id, **_why(body))
            return issued

        command = once(connection, keyed(call), "client_commands", issue, store.get)
        cuts_through = quiet_rules.cut_through(quiet_times.of_client(connection, now, uuid))
    _log_issued(call, command)
    outbox.publish_due(call.services.engine, call.services.publisher, timings, PUBLISH_SECONDS, only_ids=[command.id])
    return _command(call, command.id, cuts_through)


def _request(call: Call, uuid: str, body: NewCommand) -> CommandRequest:
    """The requested command. Raises Forbidden: only admins may shut down or override a lockout. Raises InvalidField."""
    check_may_send(call.principal, body.action)
    if body.override_lockout:
        check_may(call.principal, Role.ADMIN)
        if not body.reason.strip():
            raise InvalidField.at("reason", "field_reason_of_override")
    return CommandRequest(
        client_uuid=uuid,
        action=body.action,
        requested_by=call.principal.actor,
        reason=body.reason,
        source=CommandSource.OPERATOR,
        ttl=timedelta(seconds=body.ttl_seconds) if body.ttl_seconds is not None else None,
        override_lockout=body.override_lockout,
        traceparent=call.traceparent,
    )


def _log_issued(call: Call, command: CommandRow) -> None:
    """Log the command. A request repeated with the same key logs the first one's command and trace."""
    event(
        "command_issued",
        "a command is stored",
        command_id=command.id,
        client_uuid=command.client_uuid,
        actor=command.requested_by,
        request_id=call.request_id,
        trace_id=trace_id(command.traceparent),
    )


def _why(body: NewCommand) -> dict[str, Any]:
    return {"reason": body.reason, "override_lockout": body.override_lockout}


@routes.get("/clients/<uuid:uuid>/commands", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def commands_of_client(call: Call, uuid: str, query: PageQuery) -> Page[shapes.Command]:
    """A client's commands, the newest first."""
    after = decode_cursor(query.cursor, datetime, str)
    with call.transaction() as (connection, _):
        client = clients.find(connection, uuid)
        found = store.page_of_client(connection, client.uuid, query.limit + 1, after)
    return page(found, query.limit, lambda one: (one.created_at, one.id), shapes.command)


@routes.get("/commands/<uuid:command_id>", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(CommandNotFound,))
def command(call: Call, command_id: str) -> shapes.Command:
    """One command."""
    return _command(call, command_id)


@routes.post(
    "/commands/<uuid:command_id>/cancel",
    role=Role.OPERATOR,
    bound=Bound.CLIENTS,
    raises=(CommandNotFound, CommandNotCancellable),
)
def cancel_command(call: Call, command_id: str) -> shapes.Command:
    """Cancel a command that the display certainly does not have."""
    with call.transaction() as (connection, now):
        ended = operations.cancel(connection, now, command_id, call.principal.actor)
        call.audit(connection, now, "command.cancel", ended.client_uuid, command_id=command_id)
    return _command(call, command_id)


@routes.post(
    "/commands/<uuid:command_id>/end",
    role=Role.ADMIN,
    bound=Bound.CLIENTS,
    raises=(CommandNotFound, CommandNotCancellable),
)
def end_command(call: Call, command_id: str, body: EndOfCommand) -> shapes.Command:
    """End a command that a display may have. It may still run, so its lockout stays; a late answer is stored."""
    with call.transaction() as (connection, now):
        ended = operations.end(connection, now, command_id, call.principal.actor, body.reason)
        details = {"command_id": command_id, "reason": body.reason}
        call.audit(connection, now, "command.end", ended.client_uuid, **details)
    return _command(call, command_id)


def _command(call: Call, command_id: str, cuts_through: Sentence | None = None) -> shapes.Command:
    with call.transaction() as (connection, _):
        return shapes.command(operations.find(connection, command_id), cuts_through)
