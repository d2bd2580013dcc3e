"""Displays as routes show them: in lists, on a page of their own, and what recovery does about them."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from functions.api.bodies import Answer, answer_of
from shared.clients.signs_rules import refused_in_words
from shared.clients.store import ShownClient, WholeClient
from shared.maintenance.rules import QuietWindow
from shared.vocabulary import (
    ClientStatus,
    CommandAction,
    CommandSource,
    CommandState,
    DeadLetterReason,
    Presence,
    ProcessStatus,
    RecoveryState,
    ScreenHealthStatus,
)


class Recovery(Answer):
    """What auto-recovery does about an unhealthy client, in words. `mute`: it talks, but its heartbeats do not come."""

    state: RecoveryState
    why: str
    until: datetime | None
    step: int
    mute: bool


class OpenCommand(Answer):
    """The command that a client has open."""

    id: str
    action: CommandAction
    state: CommandState
    source: CommandSource
    created_at: datetime
    expires_at: datetime


class Client(Answer):
    """A client as every list shows it. `recovery` is null while it is healthy.

    `mqtt_last_disconnect_at` is the display's own word, by its own clock. `shared_login_seen_at`: two devices used its
    login then.
    """

    uuid: str
    name: str
    site: str | None
    tags: list[str]
    process_status: ProcessStatus
    status: ClientStatus
    status_since: datetime
    last_heartbeat_at: datetime | None
    screen_health: ScreenHealthStatus
    service_failed_at: datetime | None
    service_failed_unit: str | None
    mqtt_reconnect_count: int | None
    mqtt_last_disconnect_at: datetime | None
    shared_login_seen_at: datetime | None
    presence: Presence
    app_version: str | None
    ip: str | None
    hostname: str | None
    lockout_until: datetime | None
    recovery: Recovery | None
    open_command: OpenCommand | None


class Health(Answer):
    """The newest health report's figures; percentages are 0 to 100."""

    received_at: datetime
    cpu_percent: float | None
    memory_percent: float | None
    disk_percent: float | None
    temperature_celsius: float | None


class OpenIncident(Answer):
    """The open incident that a client is part of; `GET /api/incidents/<id>` tells the rest."""

    id: int
    cause: str


class QuietTime(Answer):
    """The maintenance window in which nothing is sent to a client by itself, and why; commands of people are."""

    window_id: int
    name: str
    reason: str
    by: str
    until: datetime


class RefusedMessages(Answer):
    """What a client sent within a day that was put aside: the kind of its topic, the reason, and all that in words."""

    kind: str
    reason: DeadLetterReason
    count: int
    last_at: datetime
    words: str


class ClientDetails(Client):
    """A client as its own page shows it.

    `unsteady_losses`: how often it lost the broker within the last hour, where that is three times or more and was no
    incident; else null. `code_until`: when its enrolment code that nobody has used ends, or ended; null without one.
    `counter_went_back_at`: it numbered its messages from 1 again (an image put back, a write filter); log lines of then
    may stand twice.
    """

    unsteady_losses: int | None
    code_until: datetime | None
    notes: str
    registered_by: str
    created_at: datetime
    os: str | None
    log_level: str | None
    capabilities: list[str] | None
    presence_at: datetime | None
    counter_went_back_at: datetime | None
    interval_seconds: int | None
    boot_id: str | None
    app_instance: str | None
    service_failed_cleared_at: datetime | None
    service_failed_cleared_by: str | None
    health: Health | None
    incident: OpenIncident | None
    maintenance: QuietTime | None
    refused: list[RefusedMessages]


def client(row: ShownClient, recovery: Mapping[str, Any] | None) -> Client:
    """A client as its answer."""
    return answer_of(Client, row, recovery=recovery, open_command=open_command(row))


def client_details(row: WholeClient, recovery: Mapping[str, Any] | None, quiet: QuietWindow | None) -> ClientDetails:
    """A client with its details as its answer."""
    health = None
    if row.health_received_at is not None:
        figures = ("cpu_percent", "memory_percent", "disk_percent", "temperature_celsius")
        health = {"received_at": row.health_received_at, **{name: getattr(row, name) for name in figures}}
    more = {"open_command": open_command(row), "health": health}
    return answer_of(
        ClientDetails,
        row,
        recovery=recovery,
        **more,
        incident=row.incident_id and {"id": row.incident_id, "cause": row.incident_cause},
        maintenance=quiet and asdict(quiet),
        refused=[
            {**vars(one), "words": refused_in_words(one.kind, one.reason, one.count)} for one in row.refused or ()
        ],
    )


def open_command(row: ShownClient) -> dict[str, Any] | None:
    """The open command of a client, or None."""
    if row.command_id is None:
        return None
    return {name: getattr(row, f"command_{name}") for name in OpenCommand.__struct_fields__}
