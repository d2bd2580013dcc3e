"""/api/tokens: the API tokens of machines and scripts."""

from datetime import datetime
from typing import Annotated

import msgspec

from functions.api.bodies import Answer, Body, Time, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page_of
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.sites import EmptySites, Sites, empty_sites
from shared.access import operations as access
from shared.access import store
from shared.access.rules import check_expiry, sealed
from shared.access.store import ApiToken
from shared.errors import ExpiryInThePast, ExpiryTooFar, TokenNotFound
from shared.vocabulary import Role

routes = Routes("tokens", "/api/tokens", "API tokens of machines and scripts.")


class NewToken(Body, kw_only=True):
    """A token to issue: its purpose, its role at these sites or (null) at all, and its expiry."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="what it is for")]
    role: Role
    sites: Sites | None = None
    expires_at: Time | None = None


class IssuedToken(Answer):
    """A new token. `token` is shown only once."""

    id: str
    name: str
    role: Role
    sites: list[str] | None
    expires_at: datetime | None
    token: str


class Token(ApiToken, frozen=True):
    """A token in a list, without its secret. `sites`: where the role counts; null: at all sites."""

    empty_sites: EmptySites


@routes.get("", role=Role.ADMIN, bound=Bound.FLEET)
def list_tokens(call: Call, query: PageQuery) -> Page[Token]:
    """Every token, live or ended, newest first."""
    after = decode_cursor(query.cursor, datetime, str)
    with call.transaction() as (connection, _):
        rows = store.tokens_page(connection, query.limit + 1, after)
        empty = empty_sites(connection, [row.sites for row in rows])
    items = [answer_of(Token, row, empty_sites=sites) for row, sites in zip(rows, empty, strict=True)]
    return page_of(items, query.limit, lambda token: (token.created_at, token.id))


@routes.post("", role=Role.ADMIN, bound=Bound.FLEET, statuses={201: "Issued"}, raises=(ExpiryInThePast, ExpiryTooFar))
def issue_token(call: Call, body: NewToken) -> IssuedToken:
    """Issue a token."""
    with call.transaction() as (connection, now):
        check_expiry(now, body.expires_at)
        row, text = access.issue_token(
            connection, now, body.name, body.role, call.principal.actor, body.expires_at, body.sites
        )
        at = {} if row.sites is None else {"sites": row.sites}
        call.audit(connection, now, "token.create", f"token:{row.id}", name=body.name, role=body.role.value, **at)
    return answer_of(IssuedToken, row, token=sealed(text, call.gateway_key))


@routes.delete("/<token_id>", role=Role.ADMIN, bound=Bound.FLEET, statuses={204: "Ended"}, raises=(TokenNotFound,))
def revoke_token(call: Call, token_id: str) -> None:
    """Revoke a token at once. A revoked token stays unchanged."""
    with call.transaction() as (connection, now):
        access.revoke_token(connection, now, token_id)
        call.audit(connection, now, "token.delete", f"token:{token_id}")
