"""/api/users/me/second-factor: the code of an app besides one's password. `users` has the reset by an admin."""

from typing import Annotated

import msgspec

from functions.api import proving
from functions.api.bodies import Answer, Body, answer_of
from functions.api.routing import Bound, Call, Routes
from functions.api.turns import PEOPLE
from shared.access import operations as access
from shared.access import second_factor_operations, second_factor_rules
from shared.access.passwords_rules import LONGEST
from shared.access.second_factor_operations import State
from shared.errors import (
    InvalidIdentity,
    Refused,
    SecondFactorRequired,
    SecondFactorStands,
    SecondFactorUnknown,
    SecondFactorWrong,
    TooManyAttempts,
)
from shared.vocabulary import Role

routes = Routes("second_factor", "/api/users/me/second-factor", "The code of an app besides one's own password.")

Password = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]
Code = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]


class Proof(Body):
    """One's own password."""

    current_password: Password


class AppCode(Body):
    """The six digits that the app shows."""

    code: Code


class FullProof(Body):
    """One's own password, and the app's code or a recovery code."""

    current_password: Password
    code: Code


class SecondFactor(State, frozen=True):
    """Whether signing in needs a code."""

    is_required: bool
    """Whether people of this role must have one."""


class Secret(Answer):
    """The app's secret. It is shown only once, and is valid after a code of the app was sent to `confirm`."""

    secret: str
    otpauth_url: str


class RecoveryCodes(Answer):
    """Recovery codes. Each replaces a code of the app once. They are shown only once."""

    recovery_codes: list[str]


@routes.get("", role=Role.VIEWER, bound=Bound.NONE, raises=(Refused,), before_second_factor=True)
def show_second_factor(call: Call) -> SecondFactor:
    """Whether signing in needs a code."""
    proving.own_cookie(call)
    with call.transaction() as (connection, _):
        state = second_factor_operations.state(connection, int(call.principal.id))
    is_required = second_factor_rules.is_required(call.services.config["SECOND_FACTOR_REQUIRED"], call.principal.role)
    return answer_of(SecondFactor, state, is_required=is_required)


@routes.post(
    "",
    role=Role.VIEWER,
    bound=Bound.NONE,
    statuses={201: "Made; valid after a code is confirmed"},
    turns=PEOPLE,
    raises=(InvalidIdentity, SecondFactorStands, Refused, TooManyAttempts),
    before_second_factor=True,
)
def begin_second_factor(call: Call, body: Proof) -> Secret:
    """Begin to set up an app. A second call replaces the secret of the first."""
    user = proving.check_own_password(call, body.current_password, "user.second_factor")
    with call.transaction() as (connection, now):
        secret = second_factor_operations.begin(connection, now, user.id, proving.signing_key(call))
        call.audit(connection, now, "user.second_factor_begin", call.principal.actor)
    return Secret(
        secret=second_factor_rules.as_typed(secret), otpauth_url=second_factor_rules.address_of(secret, user.username)
    )


@routes.post(
    "/confirm",
    role=Role.VIEWER,
    bound=Bound.NONE,
    raises=(SecondFactorWrong, SecondFactorUnknown, SecondFactorStands, Refused, TooManyAttempts),
    before_second_factor=True,
)
def confirm_second_factor(call: Call, body: AppCode) -> RecoveryCodes:
    """Switch the second factor on with a code of the app. Every other session of this user ends."""
    cookie, counters, user_id = proving.own_cookie(call), proving.own_counters(call), int(call.principal.id)
    with call.transaction() as (connection, now):
        access.refuse_when_limited(connection, now, counters)
        codes = second_factor_operations.confirm(connection, now, user_id, body.code, proving.signing_key(call))
        if codes is None:
            proving.note_failure(call, connection, now, counters, call.principal.name, "user.second_factor")
        else:
            access.end_other_sessions(connection, now, user_id, cookie)
            call.audit(connection, now, "user.second_factor", call.principal.actor)
    if codes is None:
        raise SecondFactorWrong
    return RecoveryCodes(recovery_codes=codes)


@routes.post(
    "/remove",
    role=Role.VIEWER,
    bound=Bound.NONE,
    statuses={204: "Removed"},
    turns=PEOPLE,
    raises=(
        InvalidIdentity,
        SecondFactorRequired,
        SecondFactorWrong,
        SecondFactorUnknown,
        Refused,
        TooManyAttempts,
    ),
)
def remove_second_factor(call: Call, body: FullProof) -> None:
    """Remove the second factor. Every other session of this user ends."""
    cookie = proving.own_cookie(call)
    action = "user.second_factor_remove"
    user = proving.check_own_password_and_code(call, body.current_password, body.code, action)
    with call.transaction() as (connection, now):
        second_factor_operations.remove(connection, user.id)
        access.end_other_sessions(connection, now, user.id, cookie)
        call.audit(connection, now, action, call.principal.actor)
