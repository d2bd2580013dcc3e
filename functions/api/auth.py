"""Who is calling, and may they: bearer token, the proxy's word or session cookie, role, and the guards on the last two.

Default deny: `admit` runs before anything of a request is read, on every route, and only a route that
declares itself PUBLIC lets an unknown caller through.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from flask import Request
from sqlalchemy import Connection

from functions.api.routing import Call, Endpoint
from shared.access import operations, second_factor_rules
from shared.access.rules import Principal, check_may
from shared.config import Config
from shared.errors import CrossSiteRequest, InvalidIdentity, PasswordChangeRequired, SecondFactorSetupRequired
from shared.postgres import door
from shared.vocabulary import PrincipalKind

SESSION_COOKIE: Final = "signage_session"
HOST_COOKIE: Final = f"__Host-{SESSION_COOKIE}"  # no other host, a subdomain's neighbour either, can set it for us
PROXY_ASSERTION: Final = "X-Goog-IAP-JWT-Assertion"
LONGEST_CREDENTIAL: Final = 512  # characters; ours have 90 and 43
READS: Final = {"GET", "HEAD"}
SAFE_METHODS: Final = {"GET", "HEAD", "OPTIONS"}


def admit(call: Call, endpoint: Endpoint) -> None:
    """Let the caller through to `endpoint`, with `call.caller` set on every route that is not public.

    Raises InvalidIdentity, Forbidden, CrossSiteRequest or PasswordChangeRequired.
    """
    if endpoint.role is None:
        refuse_foreign_page(call.request)
        return
    call.caller = authenticate(call)
    check_may(call.caller, endpoint.role)
    by_itself = call.session_cookie is not None or call.by_proxy
    if by_itself and call.request.method not in SAFE_METHODS:
        refuse_forged(call.request)
    if must_change_password(call.caller, call.services.config) and not endpoint.before_password_change:
        raise PasswordChangeRequired
    is_on_the_way = endpoint.before_password_change or endpoint.before_second_factor
    if must_set_up_second_factor(call.caller, call.services.config) and not is_on_the_way:
        raise SecondFactorSetupRequired


def authenticate(call: Call) -> Principal:
    """The caller by bearer token, else by the proxy's word, else by session cookie.

    A request that carries an Authorization header is judged by it alone. A read goes on in the same
    transaction; a change begins its own, so that it holds no connection before its body is there.
    Raises InvalidIdentity or PersonUnknown.
    """
    header = call.request.headers.get("Authorization")
    said = _said_by_proxy(call) if header is None else None
    if said is not None:
        return _named_by_proxy(call, *said)
    cookie = call.request.cookies.get(cookie_name(call.services.config)) if header is None else None
    if header is None and cookie is None:
        raise InvalidIdentity("Sign in, or send an API token as Authorization: Bearer.")
    if call.request.method in READS:
        return _recognise(call, call.begin(), header, cookie)
    with door.transaction(call.services.engine) as connection:
        return _recognise(call, connection, header, cookie)


def cookie_name(config: Config) -> str:
    """Under which name the browser keeps a session; the safer one needs TLS, which mode `local` has not."""
    return SESSION_COOKIE if config["DEPLOYMENT_MODE"] == "local" else HOST_COOKIE


def _said_by_proxy(call: Call) -> tuple[str, datetime] | None:
    """The e-mail address that the proxy asserts, and until when; None where there is no proxy, or it says nothing."""
    assertion = call.request.headers.get(PROXY_ASSERTION)
    proxy = call.services.people_proxy
    if assertion is None or proxy is None:
        return None
    email, until = proxy.email(assertion)
    return email, datetime.fromtimestamp(until, UTC)


def _named_by_proxy(call: Call, email: str, until: datetime) -> Principal:
    call.by_proxy = True
    if call.request.method in READS:
        return operations.principal_of_email(call.begin(), email, until)
    with door.transaction(call.services.engine) as connection:
        return operations.principal_of_email(connection, email, until)


def _recognise(call: Call, connection: Connection, header: str | None, cookie: str | None) -> Principal:
    if header is not None:
        return operations.principal_of_token(connection, _bearer(header))
    call.session_cookie = _bounded(cookie or "")
    idle = timedelta(seconds=call.services.config["SESSION_IDLE_SECONDS"])
    return operations.principal_of_session(connection, call.session_cookie, idle)


def must_change_password(principal: Principal, config: Config) -> bool:
    """Has this person not set a password of their own? In mode `local` a first admin need not."""
    return principal.must_change_password and (principal.is_one_time or config["DEPLOYMENT_MODE"] != "local")


def must_set_up_second_factor(principal: Principal, config: Config) -> bool:
    """Has this person, who signed in, no second factor where they must have one?"""
    if config["SECOND_FACTOR_REQUIRED"] == "nobody" or config["IAP_AUDIENCE"]:
        return False
    is_person = principal.kind is PrincipalKind.USER and not principal.has_second_factor
    return is_person and second_factor_rules.is_required(config["SECOND_FACTOR_REQUIRED"], principal.role)


def refuse_forged(request: Request) -> None:
    """Raises CrossSiteRequest unless our own page sent this change: another site cannot set the header."""
    if request.headers.get("X-Requested-With") != "signage":
        raise CrossSiteRequest
    refuse_foreign_page(request)


def refuse_foreign_page(request: Request) -> None:
    """Raises CrossSiteRequest when the browser says that another site's page made this changing request."""
    if request.method in SAFE_METHODS:
        return
    origin = request.headers.get("Origin")
    if origin is not None and _host_of(origin) != request.host.lower():
        raise CrossSiteRequest("The Origin header does not name this service.")
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        raise CrossSiteRequest("The browser says that this request comes from another site.")


def _host_of(origin: str) -> str | None:
    """Host and port of an Origin header; None for what is no address at all."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def client_address(forwarded: Iterable[str], peer: str, hops: int) -> str:
    """The caller's address: the entry that the outermost of our `hops` trusted proxies added, else the peer.

    Entries further left come from the caller and may say anything.
    """
    entries = [part.strip() for value in forwarded for part in value.split(",") if part.strip()]
    if hops == 0 or len(entries) < hops:
        return peer
    return entries[-hops][:64]


def _bearer(header: str) -> str:
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidIdentity("Only Authorization: Bearer with an API token is accepted.")
    return _bounded(token.strip())


def _bounded(credential: str) -> str:
    if len(credential) > LONGEST_CREDENTIAL:
        raise InvalidIdentity
    return credential
