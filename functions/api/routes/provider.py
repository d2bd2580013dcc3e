"""/api/session/provider: sign in at an OpenID Connect provider. `sessions` has the sign-out."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec
from flask import Response
from sqlalchemy import Connection

from functions.api import bodies, sessions_begun
from functions.api.auth import cookie_name
from functions.api.bodies import Answer, QueryParameters
from functions.api.routing import PUBLIC, Bound, Call, Reply, Routes
from functions.problems import DatabaseUnavailable
from shared.access import operations as access
from shared.access import provider_operations, provider_rules
from shared.access import rules as access_rules
from shared.access.provider_operations import LetIn
from shared.access.provider_rules import SignInTry
from shared.access.rules import AuditLine, Counter, network_of
from shared.config import Config
from shared.errors import (
    DeniedByProvider,
    Forbidden,
    InvalidIdentity,
    LastAdmin,
    NoProvider,
    NoRoleAtProvider,
    ProviderUnavailable,
    TooManyAttempts,
    TryOver,
)
from shared.outside.people_provider import PeopleProvider
from shared.sites import operations as sites
from shared.structured_log import event

routes = Routes("provider", "/api/session/provider", "Signing in at an OpenID Connect provider.")

LONGEST_CODE: Final = 4096
NAMED_VALUES: Final = 10  # of a claim that gives no role, in the log
WORDS: Final = "sign-in"
"""The parameter of the dashboard's address that tells it why nobody was let in."""


class ProviderAddress(Answer):
    """Where the browser goes to sign in. It comes back by itself within ten minutes."""

    address: str


class Returned(QueryParameters, forbid_unknown_fields=False):
    """What a provider adds to the address on which it sends the browser back."""

    state: Annotated[str, msgspec.Meta(max_length=200)] = ""
    code: Annotated[str, msgspec.Meta(max_length=LONGEST_CODE)] = ""
    error: Annotated[str, msgspec.Meta(max_length=200)] = ""
    iss: Annotated[str, msgspec.Meta(max_length=1000)] | None = None


@routes.post("", role=PUBLIC, bound=Bound.NONE, raises=(NoProvider, ProviderUnavailable))
def begin_at_provider(call: Call) -> Reply[ProviderAddress]:
    """Begin to sign in at the provider. The try is in a cookie of this browser, which alone can finish it."""
    provider = _provider(call)
    begun = provider_operations.begin(datetime.now(UTC))
    address = provider.sign_in_address(begun.state, begun.nonce, begun.challenge)
    return Reply(ProviderAddress(address=address), 200, {"Set-Cookie": _cookie(call.services.config, begun)})


@routes.get(
    "/callback",
    role=PUBLIC,
    bound=Bound.NONE,
    statuses={303: "To the dashboard: signed in with a cookie, or with the reason in `sign-in`"},
    raises=(NoProvider, DatabaseUnavailable),
)
def come_back_from_provider(call: Call, query: Returned) -> Response:
    """Finish to sign in: the provider sends the browser here. It always goes on to the dashboard's own address."""
    provider, config = _provider(call), call.services.config
    cookie = call.request.cookies.get(cookie_name(config, "try"), "")
    begun = provider_rules.read_try(cookie, query.state, datetime.now(UTC))
    # Another site may send the browser here at any time: that ends no try that is under way.
    headers = [] if begun is None else [("Set-Cookie", _cookie(config, None))]
    word = ""
    try:
        headers += [("Set-Cookie", of_session) for of_session in _arrive(call, provider, begun, query)]
    except (Forbidden, InvalidIdentity, LastAdmin, ProviderUnavailable, TooManyAttempts) as error:
        word = "?" + urlencode({WORDS: error.code})
    headers.append(("Location", f"{config['PUBLIC_URL']}/{word}"))
    answer = Response(status=303, headers=headers)
    del answer.headers["Content-Type"]
    return answer


def _provider(call: Call) -> PeopleProvider:
    provider = call.services.people_provider
    if provider is None:
        raise NoProvider
    return provider


def _arrive(call: Call, provider: PeopleProvider, begun: SignInTry | None, query: Returned) -> list[str]:
    """Let the person in who came back. Returns the Set-Cookie headers of the session."""
    if begun is None:
        raise TryOver
    if query.error or not query.code:
        event("provider_denied", "the provider let somebody not in", logging.WARNING, reason=query.error)
        raise DeniedByProvider
    counters = (Counter(f"provider address:{network_of(call.address)}", access_rules.MOST_FAILURES_OF_ACCOUNT),)
    with call.transaction() as (connection, now):
        access.refuse_when_limited(connection, now, counters)
        is_first = provider_operations.use_up(connection, now, begun)
    if not is_first:
        raise TryOver
    try:
        return _redeem(call, provider, begun, query)
    except (Forbidden, InvalidIdentity, LastAdmin) as error:
        with call.transaction() as (connection, now):
            access.note_failure(connection, now, counters)
            details = {"address": call.address, "code": error.code}
            actor = error.actor or "anonymous"
            line = AuditLine(actor, "session.create", "provider", "refused", call.request_id, details)
            access.record_often(connection, now, line, of_each_target=True)
        raise


def _redeem(call: Call, provider: PeopleProvider, begun: SignInTry, query: Returned) -> list[str]:
    config = call.services.config
    role_claim, sites_claim = config["SSO_ROLE_CLAIM"], config["SSO_SITES_CLAIM"]
    wanted = tuple(name for name in (role_claim, sites_claim) if name)
    found, id_token = provider.redeem(query.code, begun.verifier, begun.nonce, begun.began_at, query.iss, wanted)
    claims = bodies.scrubbed(found)
    try:
        person = provider_rules.person_of(claims, role_claim, config["SSO_ROLES"], sites_claim)
        with call.transaction() as (connection, now):
            let_in = provider_operations.let_in(connection, now, person)
            cookies = sessions_begun.begin_session(call, connection, now, let_in.user, id_token=id_token, provider=True)
            _audit_change(call, connection, now, let_in)
    except (Forbidden, LastAdmin) as error:
        if isinstance(error, NoRoleAtProvider):
            values = provider_rules.texts_of(claims, role_claim)[:NAMED_VALUES]
            line = "no value of the claim stands in SSO_ROLES"
            event("provider_gives_no_role", line, logging.WARNING, claim=role_claim, values=values)
        raise error.of(f"unknown:{provider_rules.name_of(claims)}") from None
    return cookies


def _audit_change(call: Call, connection: Connection, now: datetime, let_in: LetIn) -> None:
    user = let_in.user
    if let_in.is_new or let_in.changed:
        action = "user.create" if let_in.is_new else "user.role"
        call.audit(connection, now, action, f"user:{user.username}", role=user.role, sites=user.sites, provider=True)
        for one in sites.emptied(connection, user.sites or ()):
            call.audit(connection, now, "site.emptied", f"site:{one.site}", things=sum(one.names.values()))


def _cookie(config: Config, begun: SignInTry | None) -> str:
    """The Set-Cookie header of a try; None deletes it."""
    lasts = provider_rules.TRY_LASTS if begun else timedelta(0)
    return sessions_begun.set_cookie(config, "try", begun.cookie if begun else "", lasts, "Lax")
