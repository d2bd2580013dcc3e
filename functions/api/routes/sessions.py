"""/api/session and one's own password: how people sign in, see who they are, and sign out.

A password is checked between two transactions. The limit on failed tries is looked at in both, under a
lock: however many tries run at once, only as many are told "wrong" as the limit allows, and a right guess
beyond it is not told apart.
"""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec
from werkzeug.http import dump_cookie

from functions.api.auth import SESSION_COOKIE, must_change_password
from functions.api.bodies import Answer, Body
from functions.api.problems import DatabaseUnavailable
from functions.api.routing import PUBLIC, Call, Reply, Routes
from shared.access import operations as access
from shared.access.rules import (
    LONGEST_PASSWORD,
    Counter,
    Principal,
    check_new_password,
    own_password_counters,
    sign_in_counters,
)
from shared.config import Config
from shared.errors import InvalidIdentity, PasswordNotAccepted, Refused, TooManyAttempts
from shared.vocabulary import PrincipalKind, Role

routes = Routes("sessions", "/api", "Signing in, signing out, one's own password.")

Password = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_PASSWORD)]


class Credentials(Body):
    """Who wants to sign in."""

    username: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    password: Password


class NewPassword(Body):
    """A new password, and the present one as proof."""

    current_password: Password
    new_password: Password


class Caller(Answer):
    """Who the service takes the caller for."""

    kind: PrincipalKind
    name: str
    role: Role


class Session(Answer):
    """The caller, and until when their proof of identity holds (null: not by itself ended)."""

    principal: Caller
    expires_at: datetime | None
    must_change_password: bool


class SignInMethod(Answer):
    """How people sign in: with a name and a password, or known already to a proxy before this service."""

    method: Literal["password", "proxy"]


@routes.post(
    "/session",
    role=PUBLIC,
    statuses={201: "Signed in; the cookie is set"},
    raises=(InvalidIdentity, TooManyAttempts, DatabaseUnavailable),
)
def sign_in(call: Call, body: Credentials) -> Reply[Session]:
    """Sign in with name and password. Only failed tries count towards the limit."""
    config = call.services.config
    with call.transaction() as (connection, now):
        is_known = access.is_known_address(connection, now, body.username, call.address)
    counters = sign_in_counters(
        body.username,
        call.address,
        config["LOGIN_FAILURES_MAX"],
        config["LOGIN_FAILURES_ACCOUNT_MAX"],
        is_known=is_known,
    )
    user = _check_password(call, body.username, body.password, "session.create", counters)
    with call.transaction() as (connection, now):
        lifetime = timedelta(seconds=config["SESSION_SECONDS"])
        user = access.sign_in(connection, now, user, call.address)
        cookie, expires_at = access.open_session(connection, now, user.id, lifetime)
        caller = Principal(
            PrincipalKind.USER,
            str(user.id),
            user.username,
            Role(user.role),
            expires_at,
            user.must_change_password,
            user.one_time_until is not None,
        )
        call.caller = caller
        call.audit(connection, now, "session.create", caller.actor, address=call.address)
    return Reply(_session(caller, config), 201, {"Set-Cookie": _cookie(config, cookie, lifetime)})


@routes.get("/session/method", role=PUBLIC)
def show_method(call: Call) -> SignInMethod:
    """How people sign in here: a page that has to know does not have to fail first."""
    return SignInMethod(method="proxy" if call.services.config["IAP_AUDIENCE"] else "password")


@routes.get("/session", role=Role.VIEWER, before_password_change=True)
def show_session(call: Call) -> Session:
    """Who the caller is, whatever they signed in with."""
    return _session(call.principal, call.services.config)


@routes.delete(
    "/session",
    role=Role.VIEWER,
    statuses={204: "Signed out; the cookie is worth nothing any more"},
    raises=(Refused,),
    before_password_change=True,
)
def sign_out(call: Call) -> Reply[None]:
    """Sign out."""
    cookie = _own_cookie(call)
    with call.transaction() as (connection, now):
        access.close_session(connection, now, cookie)
        call.audit(connection, now, "session.delete", call.principal.actor)
    return Reply(None, 204, {"Set-Cookie": _cookie(call.services.config, "", timedelta(0))})


@routes.post(
    "/users/me/password",
    role=Role.VIEWER,
    statuses={204: "Changed; every other session of this user has ended"},
    raises=(InvalidIdentity, PasswordNotAccepted, Refused, TooManyAttempts),
    before_password_change=True,
)
def change_own_password(call: Call, body: NewPassword) -> None:
    """Set a new password for oneself."""
    cookie = _own_cookie(call)
    check_new_password(body.new_password, body.current_password)
    counters = own_password_counters(cookie, call.address, call.services.config["LOGIN_FAILURES_MAX"])
    user = _check_password(call, call.principal.name, body.current_password, "user.password", counters)
    hashed = access.hash_password(body.new_password)
    with call.transaction() as (connection, now):
        access.change_password(connection, now, user, hashed, cookie)
        call.audit(connection, now, "user.password", call.principal.actor)


def _check_password(call: Call, username: str, password: str, action: str, counters: tuple[Counter, ...]) -> Any:
    """The user whose password it is. Raises InvalidIdentity (and counts the try) or TooManyAttempts."""
    window = timedelta(seconds=call.services.config["LOGIN_FAILURES_SECONDS"])
    with call.transaction() as (connection, now):
        access.refuse_when_limited(connection, now, counters, window)
        user = access.look_up(connection, username)
    is_right = access.password_is_right(user.password_hash if user else None, password)
    with call.transaction() as (connection, now):
        access.refuse_when_limited(connection, now, counters, window)
        if not is_right:
            access.note_failure(connection, now, counters, window)
            target, details = f"user:{access.shown_name(connection, username)}", {"address": call.address}
            access.record_audit(connection, now, "anonymous", action, target, "refused", call.request_id, details)
    if not is_right:
        raise InvalidIdentity("Name or password is wrong.")
    return user


def _own_cookie(call: Call) -> str:
    """The cookie of the session that makes this call. Raises Refused for callers with a token or by the proxy."""
    if call.by_proxy:
        raise Refused("You are signed in by the proxy in front of this service; passwords and sign-out are there.")
    if call.session_cookie is None:
        raise Refused("This is for people who signed in; an API token is ended by DELETE /api/tokens/<id>.")
    return call.session_cookie


def _session(caller: Principal, config: Config) -> Session:
    return Session(
        principal=Caller(kind=caller.kind, name=caller.name, role=caller.role),
        expires_at=caller.expires_at,
        must_change_password=must_change_password(caller, config),
    )


def _cookie(config: Config, value: str, lifetime: timedelta) -> str:
    """The Set-Cookie header: out of reach of scripts and other sites, over TLS only except in `local`."""
    secure = config["DEPLOYMENT_MODE"] != "local"
    return dump_cookie(
        SESSION_COOKIE, value, max_age=lifetime, httponly=True, samesite="Strict", secure=secure, path="/api"
    )
