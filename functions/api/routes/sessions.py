"""/api/session and one's own account: sign in and out, list one's sessions, change one's password."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

import msgspec

from functions.api import proving, sessions_begun
from functions.api.auth import must_change_password, must_set_up_second_factor
from functions.api.bodies import Answer, Body
from functions.api.folding import NAME
from functions.api.routing import PUBLIC, Bound, Call, Reply, Routes
from functions.api.turns import PEOPLE, STRANGERS
from functions.problems import DatabaseUnavailable
from shared.access import operations as access
from shared.access import passwords_operations, passwords_rules, store
from shared.access.rules import SESSION_RESTS, Principal, digest
from shared.access.second_factor_rules import SecondFactorProof
from shared.access.store import OwnSession
from shared.config import Config
from shared.errors import (
    InvalidIdentity,
    PasswordNotAccepted,
    ProviderUnavailable,
    Refused,
    SecondFactorRequired,
    SecondFactorWrong,
    SessionNotFound,
    TooManyAttempts,
)
from shared.names import password_text
from shared.vocabulary import PrincipalKind, Role

routes = Routes("sessions", "/api", "Signing in, signing out, one's own password.")

Password = Annotated[str, msgspec.Meta(min_length=1, max_length=passwords_rules.LONGEST)]


class Credentials(Body):
    """The credentials to sign in with."""

    username: Annotated[str, msgspec.Meta(min_length=1, max_length=200, extra=NAME)]
    password: Password
    code: Annotated[str, msgspec.Meta(max_length=40)] = ""
    """The second factor: the six digits of the app, or a recovery code."""


class NewPassword(Body):
    """A new password, and the present one as proof."""

    current_password: Password
    new_password: Password


class Caller(Answer):
    """The caller as the service knows them."""

    kind: PrincipalKind
    name: str
    role: Role
    sites: list[str] | None
    """Where the role counts; null: at all sites."""


class Session(Answer):
    """The caller, and when their session or token expires (null: never)."""

    principal: Caller
    expires_at: datetime | None
    must_change_password: bool
    must_set_up_second_factor: bool
    by_provider: bool
    """Signed in at the sign-in service: password and second factor are there."""


class SignedOut(Answer):
    """Signed out here. The browser may go on to `address`, which signs out at the sign-in service, too."""

    address: str


class OwnSessions(Answer):
    """The caller's sessions; the one used last comes first."""

    items: list[OwnSession]


class SignInMethod(Answer):
    """How people sign in: with name and password, or at a proxy in front of this service."""

    method: Literal["password", "proxy"]
    provider: str | None
    """The name of the sign-in service that is offered beside passwords; null: none."""


@routes.post(
    "/session",
    role=PUBLIC,
    bound=Bound.NONE,
    statuses={201: "Signed in; the cookie is set"},
    raises=(
        *STRANGERS.refusals,
        InvalidIdentity,
        SecondFactorRequired,
        SecondFactorWrong,
        TooManyAttempts,
        DatabaseUnavailable,
    ),
)
def sign_in(call: Call, body: Credentials) -> Reply[Session]:
    """Sign in with name, password and, if the account has a second factor, a code. Failed tries are limited."""
    config = call.services.config
    found, proof = proving.check_sign_in(call, body.username, body.password, body.code or None)
    with call.transaction() as (connection, now):
        user = access.sign_in(connection, now, found, call.address)
        more = {} if proof is SecondFactorProof.NOT_NEEDED else {"second_factor": proof.value}
        cookies = sessions_begun.begin_session(call, connection, now, user, has_second_factor=bool(more), **more)
    return Reply(_session(call.principal, config), 201, {"Set-Cookie": cookies})


@routes.get("/session/method", role=PUBLIC, bound=Bound.NONE)
def show_method(call: Call) -> SignInMethod:
    """How people sign in at this service."""
    config = call.services.config
    return SignInMethod(
        method="proxy" if config["IAP_AUDIENCE"] else "password",
        provider=config["SSO_NAME"] if config["SSO_ISSUER"] else None,
    )


@routes.get("/session", role=Role.VIEWER, bound=Bound.NONE, before_password_change=True)
def show_session(call: Call) -> Session:
    """The caller and their session."""
    return _session(call.principal, call.services.config)


@routes.delete(
    "/session",
    role=Role.VIEWER,
    bound=Bound.NONE,
    statuses={
        204: "Signed out; the cookie is no longer valid",
        200: "The same, and there is an address that signs out at the sign-in service",
    },
    raises=(Refused,),
    before_password_change=True,
)
def sign_out(call: Call) -> Reply[SignedOut]:
    """Sign out. After a sign-in at a sign-in service the answer has the address for signing out there, too."""
    cookie, config = proving.own_cookie(call), call.services.config
    with call.transaction() as (connection, now):
        id_token = access.close_session(connection, now, cookie)
        call.audit(connection, now, "session.delete", call.principal.actor)
    gone = {"Set-Cookie": sessions_begun.set_cookie(config, "session", "", timedelta(0))}
    address = _sign_out_address(call, id_token) if id_token else None
    if address is None:
        return Reply(None, 204, gone)  # type: ignore[arg-type]  # 204 has no body
    return Reply(SignedOut(address=address), 200, gone)


def _sign_out_address(call: Call, id_token: str) -> str | None:
    """Where to sign out at the provider; None without such an address, or while the provider does not answer."""
    provider = call.services.people_provider
    if provider is None:
        return None
    try:
        return provider.sign_out_address(id_token, call.services.config["PUBLIC_URL"] + "/")
    except ProviderUnavailable:
        return None


@routes.get("/users/me/sessions", role=Role.VIEWER, bound=Bound.NONE, raises=(Refused,))
def list_own_sessions(call: Call) -> OwnSessions:
    """Where the caller is signed in."""
    mine = digest(proving.own_cookie(call))
    with call.transaction() as (connection, now):
        items = store.live_sessions(connection, int(call.principal.id), mine, now, now - SESSION_RESTS)
    return OwnSessions(items=items)


@routes.delete(
    "/users/me/sessions/<id:session_id>",
    role=Role.VIEWER,
    bound=Bound.NONE,
    statuses={204: "Ended"},
    raises=(SessionNotFound, Refused),
)
def end_own_session(call: Call, session_id: int) -> None:
    """End one of the caller's sessions at once."""
    proving.own_cookie(call)
    with call.transaction() as (connection, now):
        access.end_own_session(connection, now, int(call.principal.id), session_id)
        call.audit(connection, now, "session.delete", call.principal.actor, session=session_id)


@routes.post(
    "/users/me/password",
    role=Role.VIEWER,
    bound=Bound.NONE,
    statuses={204: "Changed; every other session of this user has ended"},
    turns=PEOPLE,
    raises=(InvalidIdentity, PasswordNotAccepted, Refused, TooManyAttempts),
    before_password_change=True,
)
def change_own_password(call: Call, body: NewPassword) -> None:
    """Set a new password for oneself."""
    cookie = proving.own_cookie(call)
    new = password_text(body.new_password)
    passwords_rules.check_new(new, password_text(body.current_password), call.principal.name)
    passwords_operations.check_not_leaked(new, call.services.config["LEAKED_PASSWORDS_FILE"])
    user = proving.check_own_password(call, body.current_password, "user.password")
    hashed = access.hash_password(new)
    with call.transaction() as (connection, now):
        access.change_password(connection, now, user, hashed, cookie)
        call.audit(connection, now, "user.password", call.principal.actor)


def _session(caller: Principal, config: Config) -> Session:
    return Session(
        principal=Caller(kind=caller.kind, name=caller.name, role=caller.role, sites=_sites(caller)),
        expires_at=caller.expires_at,
        must_change_password=must_change_password(caller, config),
        must_set_up_second_factor=must_set_up_second_factor(caller, config),
        by_provider=caller.by_provider,
    )


def _sites(caller: Principal) -> list[str] | None:
    return None if caller.sites is None else list(caller.sites)
