"""What follows a proof of identity, by password or by the provider: a session, its cookie and its audit line."""

import secrets
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection
from werkzeug.http import dump_cookie

from functions.api import bodies
from functions.api.auth import cookie_name
from functions.api.routing import Call
from shared.access import operations as access
from shared.access.people.store import Person
from shared.access.rules import SESSION_LASTS, Principal, sealed
from shared.config import Config
from shared.vocabulary import PrincipalKind

BROWSER_IS_KNOWN: Final = timedelta(days=180)  # to the gateway; it signs nobody in
LONGEST_BROWSER: Final = 200  # characters of User-Agent that are stored


def begin_session(
    call: Call,
    connection: Connection,
    now: datetime,
    user: Person,
    *,
    has_second_factor: bool = False,
    id_token: str | None = None,
    **details: Any,
) -> list[str]:
    """Open a session of this person, who becomes the caller. Returns the Set-Cookie headers.

    `id_token`: that of a sign-in at the provider. `details` go into the audit log.
    """
    browser = bodies.scrubbed({"browser": call.request.headers.get("User-Agent", "")})["browser"][:LONGEST_BROWSER]
    cookie, expires_at = access.open_session(connection, now, user.id, SESSION_LASTS, call.address, browser, id_token)
    call.caller = Principal(
        PrincipalKind.USER,
        str(user.id),
        user.username,
        user.role,
        expires_at,
        user.must_change_password,
        user.one_time_until is not None,
        has_second_factor,
        sites=None if user.sites is None else tuple(user.sites),
        by_provider=id_token is not None,
    )
    call.audit(connection, now, "session.create", call.caller.actor, address=call.address, **details)
    config = call.services.config
    cookies = [set_cookie(config, "session", cookie, SESSION_LASTS)]
    if call.gateway_key:
        until = int((now + BROWSER_IS_KNOWN).timestamp())
        known = sealed(f"{secrets.token_urlsafe()}~{until}", call.gateway_key)  # the gateway alone reads it
        cookies.append(set_cookie(config, "browser", known, BROWSER_IS_KNOWN, "Lax"))
    return cookies


def set_cookie(config: Config, of: str, value: str, lifetime: timedelta, same_site: str = "Strict") -> str:
    """The Set-Cookie header: HttpOnly and, except in mode `local`, Secure.

    With the `same_site` "Lax" the browser also sends it when it comes back from another site.
    """
    name = cookie_name(config, of)
    secure = name.startswith("__Host-")
    path = "/" if secure else "/api"  # browsers take a __Host- cookie only with path /
    return dump_cookie(name, value, max_age=lifetime, httponly=True, samesite=same_site, secure=secure, path=path)
