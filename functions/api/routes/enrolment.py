"""Enrolment: an admin issues a one-time code. The display exchanges it for its login, and can rotate its password."""

from datetime import datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from functions.api.bodies import END, Answer, Body, Uuid
from functions.api.routing import PUBLIC, Bound, Call, Routes
from functions.api.turns import ENROLMENT
from functions.problems import DatabaseUnavailable
from shared.access import enrolment_operations
from shared.access import operations as access
from shared.access.enrolment_rules import CODE_LASTS
from shared.access.rules import AuditLine
from shared.clients import operations as clients
from shared.commands import operations as commands
from shared.commands.news_operations import log_news
from shared.commands.rules import LOGIN_REVOKED
from shared.config import Config
from shared.errors import (
    AuthorityUnreadable,
    ClientDeleted,
    ClientNotFound,
    EnrolmentCodeInvalid,
    InvalidIdentity,
    PasswordNotAccepted,
    TooManyAttempts,
)
from shared.vocabulary import Role

routes = Routes("enrolment", "/api", "How a display gets and loses its login at the broker.")


class Code(Answer):
    """A one-time code to type at the display."""

    code: str
    expires_at: datetime


class Redemption(Body):
    """The code as typed; case, dashes and blanks do not matter."""

    code: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Rotation(Body):
    """A display's current password as proof, and its new password: 32 random bytes in base64url."""

    uuid: Annotated[Uuid, msgspec.Meta(description="the display's")]
    password: Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="its current one")]
    new_password: Annotated[
        str,
        msgspec.Meta(
            pattern=rf"^[A-Za-z0-9_-]{{43,128}}{END}", description="base64url of 32 random bytes or more, unpadded"
        ),
    ]


class BrokerAddress(Answer):
    """Where displays connect; `ca_pem` is null when a public authority signed the certificate."""

    host: str
    port: int
    tls: bool
    ca_pem: str | None


class Enrolled(Answer):
    """Everything that a display needs to connect. The password is shown only once."""

    uuid: str
    username: str
    password: str
    mqtt: BrokerAddress
    topic_root: str


@routes.post(
    "/clients/<uuid:uuid>/enrolment",
    role=Role.ADMIN,
    bound=Bound.CLIENTS,
    statuses={201: "Code issued"},
    raises=(ClientDeleted, ClientNotFound),
)
def issue_enrolment_code(call: Call, uuid: str) -> Code:
    """Issue a one-time code for a client, which is created if new. Its earlier unused codes end.

    A new client has no site yet: callers of chosen sites get codes of known clients only.
    """
    with call.transaction() as (connection, now):
        if call.is_narrowed:
            clients.find(connection, uuid)
        code, expires_at = enrolment_operations.issue_code(connection, now, uuid, call.principal.actor, CODE_LASTS)
        call.audit(connection, now, "enrolment.create", uuid)
    return Code(code=code, expires_at=expires_at)


@routes.delete(
    "/clients/<uuid:uuid>/enrolment",
    role=Role.ADMIN,
    bound=Bound.CLIENTS,
    statuses={204: "Revoked"},
    raises=(ClientNotFound,),
)
def revoke_enrolment(call: Call, uuid: str) -> None:
    """End the display's login at the broker, its unused codes and its open command. A repetition changes nothing."""
    with call.transaction() as (connection, now):
        had_login = enrolment_operations.revoke(connection, now, uuid)
        ended = commands.abandon(connection, now, uuid, LOGIN_REVOKED) if had_login else ()
        call.audit(connection, now, "enrolment.delete", uuid, had_login=had_login)
    log_news(ended)


@routes.post(
    "/enroll",
    role=PUBLIC,
    bound=Bound.NONE,
    statuses={201: "Enrolled"},
    turns=ENROLMENT,
    raises=(EnrolmentCodeInvalid, DatabaseUnavailable),
)
def enroll(call: Call, body: Redemption) -> Enrolled:
    """Exchange a code for a login. A code works once; an earlier login of the display is replaced."""
    config = call.services.config
    address = _broker_address(config)
    with call.transaction() as (connection, now):
        login = enrolment_operations.enrol(connection, now, body.code)
        call.audit(connection, now, "enrolment.use", login.client_uuid, address=call.address)
    return Enrolled(
        uuid=login.client_uuid,
        username=login.client_uuid,
        password=login.password,
        mqtt=address,
        topic_root=config["MQTT_TOPIC_ROOT"],
    )


@routes.post(
    "/enroll/rotate",
    role=PUBLIC,
    bound=Bound.NONE,
    statuses={204: "The new password holds from now on; the broker takes it within two seconds"},
    turns=ENROLMENT,
    raises=(InvalidIdentity, PasswordNotAccepted, TooManyAttempts, DatabaseUnavailable),
)
def rotate_password(call: Call, body: Rotation) -> None:
    """Replace a display's password by one that it made and has stored. A repetition gets the same answer."""
    if body.new_password == body.password:
        raise PasswordNotAccepted("password_as_before")
    with call.transaction() as (connection, now):
        if enrolment_operations.rotate(connection, now, body.uuid, body.password, body.new_password):
            actor, details = f"display:{body.uuid}", {"address": call.address}
            line = AuditLine(actor, "enrolment.rotate", body.uuid, "done", call.request_id, details)
            access.record_often(connection, now, line)


def _broker_address(config: Config) -> BrokerAddress:
    parts = urlsplit(config["DISPLAYS_MQTT_URL"])
    tls = parts.scheme == "mqtts"
    return BrokerAddress(
        host=parts.hostname or "",
        port=parts.port or (8883 if tls else 1883),
        tls=tls,
        ca_pem=_ca(config["DISPLAYS_CA_FILE"]),
    )


def _ca(path: str) -> str | None:
    """The CA certificate. It is read before the code is used up: an unreadable file must not cost the code."""
    if not path:
        return None
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise AuthorityUnreadable(facts={"error": type(error).__name__}) from None
