"""Every blueprint of the api function. A new one is listed here, in the order of the OpenAPI document."""

from typing import Final

from functions.api.routes import (
    audit,
    client_logs,
    clients,
    command_batches,
    commands,
    conversions,
    dead_letters,
    docs,
    enrolment,
    event_media,
    health,
    history,
    incidents,
    log_level,
    maintenance,
    monitoring,
    recovery,
    sessions,
    settings,
    tokens,
    uploads,
)
from functions.api.routing import Routes

ALL: Final[tuple[Routes, ...]] = (
    monitoring.routes,
    clients.routes,
    history.routes,
    log_level.routes,
    client_logs.routes,
    commands.routes,
    command_batches.routes,
    recovery.routes,
    incidents.routes,
    maintenance.routes,
    event_media.routes,
    uploads.routes,
    conversions.routes,
    conversions.files,
    sessions.routes,
    tokens.routes,
    enrolment.routes,
    audit.routes,
    dead_letters.routes,
    settings.routes,
    health.routes,
    docs.routes,
)
