"""The routes of notifications, in the order of the OpenAPI document."""

from typing import Final

from extensions.notifications import channels_routes, routes

ROUTES: Final = (channels_routes.routes, routes.routes)
