"""Every blueprint of the api function. A new one is listed here, in the order of the OpenAPI document."""

from typing import Final

from functions.api.routes import health
from functions.api.routing import Routes

ALL: Final[tuple[Routes, ...]] = (health.routes,)
