"""Every blueprint of the api function. A new one is listed here, in the order of the OpenAPI document."""

from typing import Final

from functions.api.routes import (
    audit,
    dead_letters,
    docs,
    enrolment,
    health,
    sessions,
    settings,
    tokens,
)
from functions.api.routing import Routes

ALL: Final[tuple[Routes, ...]] = (
    sessions.routes,
    tokens.routes,
    enrolment.routes,
    audit.routes,
    dead_letters.routes,
    settings.routes,
    health.routes,
    docs.routes,
)
