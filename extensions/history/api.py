"""The routes of history, in the order of the OpenAPI document."""

from typing import Final

from extensions.history import health_routes, routes

ROUTES: Final = (routes.routes, health_routes.routes)
