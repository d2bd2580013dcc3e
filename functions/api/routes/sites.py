"""/api/sites: rename a site with everything that names it."""

from typing import Annotated

import msgspec

from functions.api.bodies import Body, answer_of
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.sites import SiteName
from shared.errors import SiteExists, SiteNotFound
from shared.sites import operations
from shared.sites.operations import RenamedSite
from shared.vocabulary import Role

routes = Routes("sites", "/api/sites", "Names of sites.")


class RenameOfSite(Body):
    """A site and its new name. `merge`: that name may be another site's; both are one from then on."""

    site: SiteName
    to: Annotated[SiteName, msgspec.Meta(description="the new name")]
    merge: bool = False


class NewNameOfSite(RenamedSite, frozen=True):
    """How many things bear the new name now.

    `opening_hours_ended`: of two sites that became one, the opening hours of `to` hold. `people_of_provider`: people
    whose sites the sign-in service gives at each sign-in. Rename the site there, too, or they will see nothing.
    """

    site: str


@routes.post("/rename", role=Role.ADMIN, bound=Bound.FLEET, raises=(SiteNotFound, SiteExists))
def rename_site(call: Call, body: RenameOfSite) -> NewNameOfSite:
    """Rename a site at once everywhere: displays, rights, channels, quiet times, schedules, links, incidents.

    The audit log, messages and decisions of the past keep the name that they were written with.
    """
    with call.transaction() as (connection, now):
        done = operations.rename(connection, now, body.site, body.to, call.principal.actor, merges=body.merge)
        facts = {name: count for name, count in msgspec.structs.asdict(done).items() if count}
        call.audit(connection, now, "site.rename", f"site:{body.site}", to=body.to, **facts)
    return answer_of(NewNameOfSite, done, site=body.to)
