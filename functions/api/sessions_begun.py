"""What follows a proof of identity, by password or by the provider: a session, its cookie and its audit line."""

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection
from werkzeug.http import dump_cookie

from functions.api import bodies
from functions.api.auth import cookie_name
from functions.api.routing import Call
from shared.access import operations as access
from shared.access.people.store import Person
from shared.access.rules import SESSION_LASTS, Principal
from shared.config import Config
from shared.vocabulary import PrincipalKind

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
) -> str:
    """Open a session of this person, who becomes the caller. Returns the Set-Cookie header.

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
    return session_cookie(call.services.config, cookie, SESSION_LASTS)


def session_cookie(config: Config, value: str, lifetime: timedelta) -> str:
    """The Set-Cookie header: HttpOnly, SameSite=Strict and, except in mode `local`, Secure."""
    name = cookie_name(config)
    secure = name.startswith("__Host-")
    path = "/" if secure else "/api"  # browsers take a __Host- cookie only with path /
    return dump_cookie(name, value, max_age=lifetime, httponly=True, samesite="Strict", secure=secure, path=path)
