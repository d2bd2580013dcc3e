"""The routes of batches, in the order of the OpenAPI document."""

from typing import Final

from extensions.batches import routes, schedules_routes

ROUTES: Final = (routes.routes, schedules_routes.routes)
