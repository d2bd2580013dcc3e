"""/api/status: the public status page of a site; /api/status-links: the links to such pages."""

from datetime import datetime
from typing import Annotated, Final

import msgspec

from extensions.status_pages import operations, rules, store
from extensions.status_pages.kept_answers import KeptAnswers
from extensions.status_pages.operations import SitePage
from extensions.status_pages.rules import StatusOfDisplay
from extensions.status_pages.store import PageLink
from functions.api.bodies import Answer, Body, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page_of
from functions.api.routing import PUBLIC, Bound, Call, Header, Reply, Routes
from functions.api.services import Services
from functions.api.shapes.sites import EmptySites, SiteName, empty_sites
from functions.api.turns import STATUS_PAGES
from functions.problems import DatabaseUnavailable
from functions.reader import to_json, words
from shared.errors import StatusLinkInvalid, StatusLinkNotFound, TooManyAttempts
from shared.vocabulary import Role
from shared.words.sentences import Sentence

routes = Routes("status_pages", "/api", "Public status pages of sites.")

LINK: Final = "X-Status-Link"
HEADERS: Final = {"X-Robots-Tag": "noindex"}


class NewStatusLink(Body):
    """A new link: who gets it, and which site its page shows."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="who gets it")]
    site: SiteName


class MadeStatusLink(Answer):
    """A new link. `secret` is shown only once; the page is `/status.html#` with the secret behind it."""

    id: int
    name: str
    site: str
    secret: str


class StatusLink(PageLink, frozen=True):
    """A link in a list, without its secret. `last_used_at` is exact to a minute."""

    empty_sites: EmptySites


class StatusIncident(Answer):
    """Displays that failed together. `cause` null: its sentence is not for strangers."""

    began_at: datetime
    cause: Sentence | None


class StatusPage(Answer):
    """A site at `as_of`. `more`: it has more displays than are listed."""

    site: str
    as_of: datetime
    displays: list[StatusOfDisplay]
    more: bool
    incidents: list[StatusIncident]


@routes.get("/status-links", role=Role.ADMIN, bound=Bound.LISTS)
def list_status_links(call: Call, query: PageQuery) -> Page[StatusLink]:
    """Every link, valid or ended, newest first."""
    after = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, _):
        rows = store.page(connection, query.limit + 1, after)
        empty = empty_sites(connection, [[row.site] for row in rows])
    items = [answer_of(StatusLink, row, empty_sites=sites) for row, sites in zip(rows, empty, strict=True)]
    return page_of(items, query.limit, lambda link: (link.created_at, link.id))


@routes.post("/status-links", role=Role.ADMIN, bound=Bound.LISTS, statuses={201: "Made"})
def make_status_link(call: Call, body: NewStatusLink) -> MadeStatusLink:
    """Make a link with which anybody may read the status page of a site. It belongs to the site, not to its maker."""
    call.check_site(body.site)
    with call.transaction() as (connection, now):
        row, secret = operations.make(connection, now, body.name, body.site, call.principal.actor)
        call.audit(connection, now, "status_link.create", f"status_link:{row.id}", name=row.name, site=row.site)
    return answer_of(MadeStatusLink, row, secret=secret)


@routes.delete(
    "/status-links/<id:link_id>",
    role=Role.ADMIN,
    bound=Bound.LISTS,
    statuses={204: "Ended"},
    raises=(StatusLinkNotFound,),
)
def end_status_link(call: Call, link_id: int) -> None:
    """End a link at once. An ended link stays unchanged."""
    with call.transaction() as (connection, now):
        operations.end(connection, now, link_id)
        call.audit(connection, now, "status_link.delete", f"status_link:{link_id}")


@routes.get(
    "/status",
    role=PUBLIC,
    bound=Bound.NONE,
    turns=STATUS_PAGES,
    headers={LINK: Header("the secret of a link")},
    raises=(StatusLinkInvalid, TooManyAttempts, DatabaseUnavailable),
)
def status_page(call: Call) -> Reply[StatusPage]:
    """The state of a site's displays, for anybody with a link to its page.

    An answer may be 10 seconds old, and 30 while another one is made. The secret comes in a header, because addresses
    are written into logs. An unknown and an ended link get the same answer.
    """
    secret = call.request.headers.get(LINK, "")
    with call.transaction() as (connection, _):
        link = operations.use(connection, secret)
        if link is not None:
            site, now = link.site, link.now
            name = f"{words().rules.own_name} {site}"
            body = kept_pages(call.services).get(name, lambda: to_json(_shown(operations.read(connection, site, now))))
            return Reply(msgspec.Raw(body), 200, HEADERS)  # type: ignore[arg-type]  # JSON already
    with call.transaction() as (connection, now):
        operations.note_invalid(connection, now, call.address)
    raise StatusLinkInvalid


def kept_pages(services: Services) -> KeptAnswers:
    """The status pages of sites that were read lately."""
    return services.once("status_pages", lambda: KeptAnswers(rules.KEPT))


def _shown(found: SitePage) -> StatusPage:
    return StatusPage(
        site=found.site,
        as_of=found.now,
        displays=list(found.displays),
        more=found.more,
        incidents=[answer_of(StatusIncident, one) for one in found.incidents],
    )
