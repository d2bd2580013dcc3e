"""/api/clients/<uuid:uuid>/commands and /api/commands: tell displays what to do and see that it happened."""

from datetime import datetime
from typing import Annotated

import msgspec

from functions.api import shapes
from functions.api.bodies import Body, Page, PageQuery, decode_cursor, page
from functions.api.routing import Call, Reply, Routes
from shared.access.rules import check_may
from shared.clients import operations as clients
from shared.commands import operations, store
from shared.commands.operations import CommandRequest
from shared.errors import (
    ClientNotFound,
    CommandInFlight,
    CommandLockedOut,
    CommandNotCancellable,
    CommandNotFound,
    Forbidden,
    IdempotencyKeyReused,
    NotCapable,
)
from shared.vocabulary import CommandAction, CommandSource, Role

routes = Routes("commands", "/api", "Commands: sent once, tracked to their proven end.")

PUBLISH_SECONDS = 3.0  # what a request may wait for the broker; later the bridge goes on
ROLE_FOR = {
    CommandAction.RESTART_APP: Role.OPERATOR,
    CommandAction.REBOOT_HOST: Role.OPERATOR,
    CommandAction.SHUTDOWN_HOST: Role.ADMIN,  # nobody can start it again from here
}
IDEMPOTENCY_KEY = {"Idempotency-Key": "1 to 200 characters: the same key answers the same command"}


class NewCommand(Body):
    """What to tell a display."""

    action: CommandAction
    reason: Annotated[str, msgspec.Meta(max_length=500, description="why, for the history")] = ""
    ttl_seconds: Annotated[int, msgspec.Meta(ge=10, le=86_400)] | None = None
    override_lockout: bool = False


@routes.post(
    "/clients/<uuid:uuid>/commands",
    role=Role.OPERATOR,
    statuses={202: "Stored; published as soon as the broker takes it"},
    raises=(ClientNotFound, CommandInFlight, CommandLockedOut, Forbidden, NotCapable, IdempotencyKeyReused),
    headers=IDEMPOTENCY_KEY,
)
def send_command(call: Call, uuid: str, body: NewCommand) -> Reply:
    """Store a command and publish it. The answer says how far it has come; `queued` is not an error."""
    request = _request(call, uuid, body)
    with call.transaction() as (connection, now):
        issued = operations.issue(connection, now, request)
        if issued.is_new:
            call.audit(
                connection,
                now,
                f"command.{body.action}",
                request.client_uuid,
                command_id=issued.command["id"],
                override_lockout=body.override_lockout,
                reason=body.reason,
            )
    if issued.is_new:
        operations.publish_due(call.services.engine, call.services.publisher, PUBLISH_SECONDS, [issued.command["id"]])
    return Reply(_command(call, issued.command["id"]), 202)


@routes.get("/clients/<uuid:uuid>/commands", role=Role.VIEWER, raises=(ClientNotFound,))
def commands_of_client(call: Call, uuid: str, query: PageQuery) -> Page[shapes.Command]:
    """A client's commands, the newest first."""
    after = decode_cursor(query.cursor, datetime, str)
    with call.transaction() as (connection, _):
        client = clients.find(connection, uuid)
        rows = store.page_of_client(connection, client["uuid"], query.limit + 1, after)
    return page(rows, query.limit, lambda row: (row["created_at"], row["id"]), shapes.command)


@routes.get("/commands/<uuid:command_id>", role=Role.VIEWER, raises=(CommandNotFound,))
def command(call: Call, command_id: str) -> shapes.Command:
    """One command."""
    return _command(call, command_id)


@routes.post("/commands/<uuid:command_id>/cancel", role=Role.OPERATOR, raises=(CommandNotFound, CommandNotCancellable))
def cancel_command(call: Call, command_id: str) -> shapes.Command:
    """Withdraw a command that provably nobody has."""
    with call.transaction() as (connection, now):
        row = operations.cancel(connection, now, command_id, call.principal.actor)
        call.audit(connection, now, "command.cancel", row["client_uuid"], command_id=command_id)
    return _command(call, command_id)


def _command(call: Call, command_id: str) -> shapes.Command:
    with call.transaction() as (connection, _):
        row = store.get(connection, command_id)
    if row is None:
        raise CommandNotFound
    return shapes.command(row)
