"""The routes of status pages, in the order of the OpenAPI document."""

from typing import Final

from extensions.status_pages import routes

ROUTES: Final = (routes.routes,)
