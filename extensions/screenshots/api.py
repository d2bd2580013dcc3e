"""The routes of screenshots, in the order of the OpenAPI document."""

from typing import Final

from extensions.screenshots import routes

ROUTES: Final = (routes.routes,)
