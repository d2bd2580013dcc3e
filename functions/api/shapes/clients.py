"""The answers about clients: in lists, on their own page, and what recovery does about them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, cast

import msgspec

from functions.api.bodies import Answer, Body, answer_of
from functions.api.folding import NAME
from functions.api.shapes.commands import StoredAction, StoredSource
from functions.api.shapes.quiet import QuietNowView, quiet_now_view
from shared.clients import limits_rules
from shared.clients.limits_rules import LIMITS
from shared.clients.screens_rules import SeenPage
from shared.clients.signs_rules import TopicKind, messages_refused
from shared.clients.store import ListedClient, RefusedRow, ShownClient, WholeClient
from shared.expectations.rules import Expectation
from shared.incidents.rules import Holder
from shared.incidents.taken_operations import Taking
from shared.quiet.rules import QuietOn
from shared.recovery.rules import ShownRecovery
from shared.vocabulary import (
    CommandState,
    DeadLetterReason,
    HealthLimit,
    ScreenOffBy,
)
from shared.words.sentences import Sentence

PutAsideFor = Annotated[
    str, msgspec.Meta(description=f"{', '.join(DeadLetterReason)}; while versions change, a reason of a newer one")
]
"""Why a message was put aside."""


class Recovery(ShownRecovery, frozen=True):
    """What recovery does about an unhealthy client; `why` is for people.

    `mute`: the client sends messages, but no heartbeats.
    """


class OpenCommand(Answer):
    """The open command of a client. A screenshot is none: it lets other commands begin."""

    id: str
    action: StoredAction
    state: CommandState
    source: StoredSource
    created_at: datetime
    expires_at: datetime


class Client(ListedClient, frozen=True):
    """A client as every list shows it. `recovery` is null while it is healthy.

    `service_mended_at`: when the recorded service failure was over: the service fails no more, but nobody has
    acknowledged it. `screen_failed_since`: since when its screen is as `screen_health` says, if that is a failure; else
    null.
    `mqtt_last_disconnect_at` comes from the display, by its own clock. `shared_login_seen_at`: when two devices used
    its login.
    """

    recovery: Recovery | None
    open_command: OpenCommand | None


class LimitedValue(Answer):
    """A value of the newest health report and its limit, in the unit of PassedLimit; null: not known."""

    limit: HealthLimit
    value: float | None
    at: float


class RefusedOrder(Answer):
    """An order that a client does not take: the downward topic, and the client's reason as a word."""

    what: str
    reason: str


class Health(Answer):
    """The figures of the newest health report; percentages are 0 to 100."""

    received_at: datetime
    cpu_percent: float | None
    memory_percent: float | None
    disk_percent: float | None
    temperature_celsius: float | None
    limits: list[LimitedValue]
    refused: list[RefusedOrder]


class OpenIncident(Answer):
    """The open incident that a client is part of; see `GET /api/incidents/<id>`."""

    id: int
    cause: Sentence


class RefusedMessages(RefusedRow, frozen=True):
    """Messages of a client that were put aside within a day. `kind` is the topic's; `words` is for people."""

    reason: PutAsideFor
    words: Sentence


class ClientDetails(Client, frozen=True):
    """A client as its own page shows it.

    `quiet_times`: those that apply to it now, the one that ends last first. `unsteady_losses`: how often the client
    lost the broker within the last hour; null below three times, or in an incident. `code_until`: when its unused
    enrolment code expires or expired; null without a code. `screen_off_by`: whose plan it is that the screen is off;
    null: nobody's. `keeps_hours`: whether it keeps the opening hours that it is meant to keep; null: it is meant to
    keep none. `counter_went_back_at`: when it began again to number its messages from 1 (a restored image, a write
    filter); log lines of that time may be stored twice. `page`: what is on its
    screen, by `health`; null: nobody sees it. `expected`: what should be there.
    """

    unsteady_losses: int | None
    code_until: datetime | None
    notes: str
    registered_by: str
    created_at: datetime
    os: str | None
    log_level: str | None
    screen_off_by: ScreenOffBy | None
    keeps_hours: bool | None
    capabilities: list[str] | None
    presence_at: datetime | None
    counter_went_back_at: datetime | None
    interval_seconds: int | None
    boot_id: str | None
    app_instance: str | None
    service_failed_cleared_at: datetime | None
    service_failed_cleared_by: str | None
    health: Health | None
    page: SeenPage | None
    expected: Expectation | None
    incident: OpenIncident | None
    quiet_times: list[QuietNowView]
    refused: list[RefusedMessages]


def client(row: ShownClient, recovery: ShownRecovery | None) -> Client:
    """A client as its answer."""
    return answer_of(Client, row, recovery=recovery, open_command=open_command(row))


def _keeps_hours(row: WholeClient) -> bool | None:
    return None if row.hours_wanted is None else row.hours_version == row.hours_wanted


def client_details(
    row: WholeClient,
    recovery: ShownRecovery | None,
    quiet: Sequence[QuietOn],
    expected: Expectation | None,
) -> ClientDetails:
    """A client with its details as its answer."""
    health: dict[str, Any] | None = None
    if row.health_received_at is not None:
        figures = ("cpu_percent", "memory_percent", "disk_percent", "temperature_celsius")
        health = {"received_at": row.health_received_at, **{name: getattr(row, name) for name in figures}}
        health["limits"] = [
            {"limit": kind, "value": row.measured and limits_rules.usable(row.measured, kind, limit), "at": limit.at}
            for kind, limit in LIMITS.items()
        ]
        orders = [one.split(":") for one in (row.orders_refused or "").split(",") if one]
        health["refused"] = [{"what": what, "reason": reason} for what, reason in orders]
    more = {"open_command": open_command(row), "health": health, "keeps_hours": _keeps_hours(row)}
    return answer_of(
        ClientDetails,
        row,
        recovery=recovery,
        expected=expected,
        **more,
        incident=_open_incident(row),
        quiet_times=[quiet_now_view(one) for one in quiet],
        refused=[_refused(one) for one in row.refused or ()],
    )


def _refused(row: RefusedRow) -> dict[str, Any]:
    kind, reason = cast("TopicKind", row.kind), cast("DeadLetterReason", row.reason)
    return {**msgspec.structs.asdict(row), "words": messages_refused(kind=kind, reason=reason, n=row.count)}


def _open_incident(row: WholeClient) -> dict[str, Any] | None:
    if row.incident_id is None or row.incident_cause is None:
        return None
    return {"id": row.incident_id, "cause": row.incident_cause}


def open_command(row: ShownClient) -> dict[str, Any] | None:
    """The client's open command, or None."""
    if row.command_id is None:
        return None
    return {name: getattr(row, f"command_{name}") for name in OpenCommand.__struct_fields__}


Note = Annotated[str, msgspec.Meta(max_length=500, description="for colleagues; empty: none", extra=NAME)]


class TakeBody(Body):
    """Who takes a trouble. `note` left out: the note stays. `instead_of`: the `taken_by` from whom it is taken over."""

    note: Note | None = None
    instead_of: Annotated[str, msgspec.Meta(max_length=200)] | None = None


class HeldBy(Holder, frozen=True):
    """Who looks after a trouble, since when, and that person's note."""


class GivenBack(Answer):
    """Whether somebody looked after it until now."""

    changed: bool


def taking(by: str, body: TakeBody) -> Taking:
    """The person who takes a trouble, and how."""
    return Taking(by, body.note, body.instead_of)
