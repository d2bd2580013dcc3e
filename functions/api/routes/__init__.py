"""Every blueprint of the api function. A new one is listed here, in the order of the OpenAPI document."""

from typing import Final

from extensions.batches import routes as command_batches
from extensions.batches import schedules_routes as schedules
from extensions.history import health_routes as health_history
from extensions.history import routes as history
from extensions.notifications import channels_routes as notification_channels
from extensions.notifications import routes as notifications
from extensions.screenshots import routes as screenshots
from extensions.status_pages import routes as status_pages
from functions.api.routes import (
    audit,
    availability,
    client_logs,
    clients,
    commands,
    conversions,
    dead_letters,
    docs,
    enrolment,
    event_media,
    health,
    incidents,
    log_level,
    metrics,
    monitoring,
    provider,
    quiet_times,
    recovery,
    second_factor,
    sessions,
    settings,
    sites,
    tokens,
    uploads,
    users,
)
from functions.api.routing import Routes

ALL: Final[tuple[Routes, ...]] = (
    monitoring.routes,
    clients.routes,
    history.routes,
    availability.routes,
    health_history.routes,
    log_level.routes,
    client_logs.routes,
    commands.routes,
    command_batches.routes,
    schedules.routes,
    recovery.routes,
    quiet_times.routes,
    incidents.routes,
    screenshots.routes,
    notification_channels.routes,
    notifications.routes,
    event_media.routes,
    uploads.routes,
    conversions.routes,
    conversions.files,
    sessions.routes,
    provider.routes,
    second_factor.routes,
    users.routes,
    tokens.routes,
    sites.routes,
    status_pages.routes,
    enrolment.routes,
    audit.routes,
    dead_letters.routes,
    settings.routes,
    metrics.routes,
    health.routes,
    docs.routes,
)
