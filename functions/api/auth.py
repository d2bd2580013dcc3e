"""Authenticate and authorize callers: by bearer token, identity proxy or session cookie, and by role.

Callers by proxy or cookie are also guarded against cross-site requests. Default deny: `admit` runs on every route
before the request is parsed. Only a route that is declared PUBLIC lets an unknown caller through.
"""

import ipaddress
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from flask import Request
from sqlalchemy import Connection

from functions.api.routing import READS, Bound, Call, Endpoint
from shared.access import operations, second_factor_rules
from shared.access.rules import SESSION_RESTS, Principal, check_may
from shared.config import Config
from shared.errors import (
    CrossSiteRequest,
    InvalidIdentity,
    PasswordChangeRequired,
    SecondFactorSetupRequired,
    SiteNotAllowed,
)
from shared.postgres import door
from shared.vocabulary import PrincipalKind

PROXY_ASSERTION: Final = "X-Goog-IAP-JWT-Assertion"
LONGEST_CREDENTIAL: Final = 512  # characters; our tokens have 90, our cookies 43
IN_BRACKETS_OR_WITH_PORT: Final = re.compile(r"\[(?P<v6>[0-9A-Fa-f:.]+)(?:%[^\]]*)?\](?::\d+)?|(?P<v4>[0-9.]+):\d+")
SAFE_METHODS: Final = {"GET", "HEAD", "OPTIONS"}


def admit(call: Call, endpoint: Endpoint) -> None:
    """Let the caller through to `endpoint`; sets `call.caller` on every route that is not public.

    Raises InvalidIdentity, Forbidden, SiteNotAllowed, CrossSiteRequest, PasswordChangeRequired or
    SecondFactorSetupRequired.
    """
    if endpoint.role is None:
        refuse_foreign_page(call.request)
        return
    call.caller = authenticate(call)
    check_may(call.caller, endpoint.role)
    if call.caller.sites is not None:
        _bound(call, endpoint)
    by_itself = call.session_cookie is not None or call.by_proxy
    if by_itself and call.request.method not in SAFE_METHODS:
        refuse_forged(call.request)
    if must_change_password(call.caller, call.services.config) and not endpoint.before_password_change:
        raise PasswordChangeRequired
    is_on_the_way = endpoint.before_password_change or endpoint.before_second_factor
    if must_set_up_second_factor(call.caller, call.services.config) and not is_on_the_way:
        raise SecondFactorSetupRequired


def _bound(call: Call, endpoint: Endpoint) -> None:
    """Limit a caller of chosen sites: to these, or (Bound.FLEET) not at all."""
    if endpoint.bound is Bound.FLEET:
        raise SiteNotAllowed
    call.is_narrowed = endpoint.bound is not Bound.NONE


def authenticate(call: Call) -> Principal:
    """The caller by bearer token, else by the proxy's assertion, else by session cookie.

    If there is an Authorization header, nothing else counts. A read continues in the same transaction. A change begins
    a new one, so that it holds no connection while its body arrives. Raises InvalidIdentity or PersonUnknown.
    """
    header = call.request.headers.get("Authorization")
    said = _said_by_proxy(call) if header is None else None
    if said is not None:
        return _named_by_proxy(call, *said)
    cookie = call.request.cookies.get(cookie_name(call.services.config)) if header is None else None
    if header is None and cookie is None:
        raise InvalidIdentity("sign_in_or_send_token")
    if call.request.method in READS:
        return _recognise(call, call.begin(), header, cookie)
    with door.transaction(call.services.engine) as connection:
        return _recognise(call, connection, header, cookie)


def cookie_name(config: Config, of: str = "session") -> str:
    """The name of a cookie: a browser takes `__Host-` from this very host only. Mode `local` has no TLS for that."""
    return f"signage_{of}" if config["DEPLOYMENT_MODE"] == "local" else f"__Host-signage_{of}"


def _said_by_proxy(call: Call) -> tuple[str, datetime] | None:
    """The e-mail address that the proxy asserts, and when that expires; None without a proxy or an assertion."""
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
    return operations.principal_of_session(connection, call.session_cookie, SESSION_RESTS)


def must_change_password(principal: Principal, config: Config) -> bool:
    """Whether this person still has to set their own password. In mode `local` the first admin need not.

    Whoever comes from the provider need not either: they did not use the password.
    """
    if principal.by_provider:
        return False
    return principal.must_change_password and (principal.is_one_time or config["DEPLOYMENT_MODE"] != "local")


def must_set_up_second_factor(principal: Principal, config: Config) -> bool:
    """Whether this person has no second factor but must have one. A provider asks for its own."""
    if principal.by_provider:
        return False
    if config["SECOND_FACTOR_REQUIRED"] == "nobody" or config["IAP_AUDIENCE"]:
        return False
    is_person = principal.kind is PrincipalKind.USER and not principal.has_second_factor
    return is_person and second_factor_rules.is_required(config["SECOND_FACTOR_REQUIRED"], principal.role)


def refuse_forged(request: Request) -> None:
    """Refuse a change that our own page did not send: other sites cannot set the header. Raises CrossSiteRequest."""
    if request.headers.get("X-Requested-With") != "signage":
        raise CrossSiteRequest
    refuse_foreign_page(request)


def refuse_foreign_page(request: Request) -> None:
    """Refuse a change that, by the browser's headers, a page of another site made. Raises CrossSiteRequest."""
    if request.method in SAFE_METHODS:
        return
    origin = request.headers.get("Origin")
    if origin is not None and _host_of(origin) != request.host.lower():
        raise CrossSiteRequest("origin_of_another_site")
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        raise CrossSiteRequest("request_of_another_site")


def _host_of(origin: str) -> str | None:
    """Host and port of an Origin header; None when it is not an address."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def client_address(forwarded: Iterable[str], peer: str, hops: int) -> str:
    """The caller's address: the entry of X-Forwarded-For from the outermost of our `hops` proxies, else the peer.

    Entries further left come from the caller and cannot be trusted. Some proxies add the caller's port, which would
    make each connection another caller; an entry that is no address counts as the peer.
    """
    entries = [part.strip() for value in forwarded for part in value.split(",") if part.strip()]
    if hops == 0 or len(entries) < hops:
        return peer
    entry = entries[-hops].partition("%")[0]  # without an interface's name
    if decorated := IN_BRACKETS_OR_WITH_PORT.fullmatch(entries[-hops]):
        entry = decorated["v6"] or decorated["v4"]
    try:
        return str(ipaddress.ip_address(entry))
    except ValueError:
        return peer


def _bearer(header: str) -> str:
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidIdentity("only_bearer")
    return _bounded(token.strip())


def _bounded(credential: str) -> str:
    if len(credential) > LONGEST_CREDENTIAL:
        raise InvalidIdentity
    return credential
